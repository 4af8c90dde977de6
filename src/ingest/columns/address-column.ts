import { parseEmails } from '../../domain/identity/values/email-address.ts';
import type { FirstRows } from './fields.ts';

/** Whether most cells of a column in the first rows are addresses. */
export function holdsAddresses(rows: FirstRows['rows'], column: number): boolean {
  const cells = rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
  return cells.filter((cell) => parseEmails(cell).length > 0).length * 2 > cells.length;
}
