import { parseEmails } from '../../domain/identity/values/email-address.ts';
import { parseName } from '../../domain/identity/values/normalise.ts';
import { isNameOfPerson, type Field, type FirstRows } from './fields.ts';

/**
 * Whether a column holds addresses and not its field: most cells in the first rows are addresses. A column of names
 * then has no name at all: people write the address into a name that must be filled.
 */
export function holdsAddresses(rows: FirstRows['rows'], column: number, field: Field): boolean {
  const cells = rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
  const addresses = cells.filter((cell) => parseEmails(cell).length > 0);
  return (
    addresses.length * 2 > cells.length &&
    !(isNameOfPerson(field) && cells.some((cell) => parseName(cell) !== undefined))
  );
}
