import { parseDomain } from '../../../domain/identity/values/domain-name.ts';
import { parseEmails, parseHashedEmail } from '../../../domain/identity/values/email-address.ts';
import { parseName } from '../../../domain/identity/values/normalise.ts';
import { parseProfileUrl } from '../../../domain/identity/values/profile-url.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { shownHeader } from '../../../domain/text/header-name.ts';
import type { ExportMapping } from './mapping-file.ts';
import { isNoValue } from '../rows/no-value.ts';
import { isNameOfPerson, type ColumnsOfPeople, type FirstRows } from '../fields.ts';

/** An address is no id and no company, although some programs call an address an id. */
const noAddress = (cell: string): string | undefined =>
  parseEmails(cell)[0] === undefined ? cell : undefined;

const readers = {
  contact_id: noAddress,
  person_id: noAddress,
  first_name: parseName,
  last_name: parseName,
  name: parseName,
  organization_name: noAddress,
  email: (cell: string) => parseEmails(cell)[0],
  hashed_email: parseHashedEmail,
  profile_url: parseProfileUrl,
  domain: parseDomain,
} as const;
/** Fields that identify a person: each row has another value. */
const identifiers = ['contact_id', 'person_id', 'email', 'hashed_email', 'profile_url'] as const;

/** Fewer unreadable cells show nothing. */
const fewestUnreadable = 3;
const fewestRepeated = 10;
const mostUnreadable = 0.5;
/** A report that joins contacts with deals repeats a contact a few times. */
const mostRepeated = 0.8;

/**
 * Refuses an implausible mapping file, by the first rows: most cells of a column cannot be read as its field, or most
 * identifiers are equal. A column of names is refused if it has no name.
 *
 * @throws Problem `mapping.implausible`, with counts and without cells
 */
export function refuseImplausibleColumns(
  path: string,
  { header, rows }: FirstRows,
  columns: ColumnsOfPeople,
  mapping: ExportMapping | undefined,
): void {
  const given = Object.keys(mapping?.columns ?? {});
  const columnsOf = (field: keyof typeof readers): readonly number[] => {
    if (!given.includes(field)) return [];
    return field === 'email' ? columns.emails : columns.single[field];
  };
  const filled = (column: number): string[] =>
    rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '' && !isNoValue(cell));
  const refuse = (field: string, column: number, what: string): never => {
    throw new UsageProblem(
      'mapping.implausible',
      `column "${shownHeader(header[column]!)}" is no ${field}: ${what}`,
      {
        where: `${path}, column ${column + 1}, by its first rows`,
        next:
          `name another column as ${field} in the mapping file, or none; enrich plan FILE --write-mapping MAPPING ` +
          'proposes columns',
      },
    );
  };
  for (const field of Object.keys(readers) as (keyof typeof readers)[]) {
    for (const column of columnsOf(field)) {
      const cells = filled(column);
      const unreadable = cells.filter((cell) => readers[field](cell) === undefined).length;
      const most = isNameOfPerson(field) ? cells.length - 1 : cells.length * mostUnreadable;
      if (cells.length >= fewestUnreadable && unreadable > most)
        refuse(field, column, `${unreadable} of ${cells.length} cells cannot be read as one`);
    }
  }
  for (const field of identifiers) {
    for (const column of columnsOf(field)) {
      const cells = filled(column);
      const repeated = cells.length - new Set(cells).size;
      if (cells.length >= fewestRepeated && repeated > cells.length * mostRepeated)
        refuse(field, column, `${repeated} of ${cells.length} rows repeat the value of another row`);
    }
  }
}
