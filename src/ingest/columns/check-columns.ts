import { hasUnreadAddress, isRoleAddress, parseEmails } from '../../domain/identity/values/email-address.ts';
import { hasLostLetters } from '../../domain/identity/values/lost-letters.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { counted } from '../../domain/text/format.ts';
import { headerKey, shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import { usualDelimiters } from '../reading/record-parser.ts';
import type { Columns } from './columns.ts';
import { filledCells, isNoValue, type ColumnsOfPeople, type Field, type FirstRows } from './fields.ts';
import { isSecondPerson, isUnderstood, otherObjectOf } from './known-headers.ts';
import type { ExportMapping } from './mapping-file.ts';
import { fieldOfCells, proposeColumns, proposedMapping } from './propose-columns.ts';

/**
 * Refuses a file without people: no column identifies people, or there is only a column `name` beside columns of
 * companies or deals.
 *
 * @throws Problem `export.other-object`, `export.no-identifying-column`, `export.unknown-delimiter`
 */
export function refuseWithoutPeople(
  columns: Columns,
  first: FirstRows,
  { single, emails }: ColumnsOfPeople,
  mapping: ExportMapping | undefined,
): void {
  if (mapping?.columns === undefined) refuseJoinedColumns(columns, first);
  const inParts = single.first_name.length > 0 && single.last_name.length > 0;
  const employed = single.organization_name.length > 0 || single.domain.length > 0;
  const identified =
    emails.length + single.hashed_email.length + single.profile_url.length + single.person_id.length > 0;
  if (identified || (inParts && employed)) return;
  const other = otherObjectOf(first.header);
  // In an export of companies a bare name is the company's own.
  const isPerson =
    other === undefined ||
    mapping?.columns?.name !== undefined ||
    (other === 'companies' && single.organization_name.length > 0);
  if (single.name.length > 0 && employed && isPerson) return;
  if (other !== undefined) {
    throw new UsageProblem(
      'export.other-object',
      `the file is an export of ${other}, and no column identifies people`,
      {
        where: columns.where(),
        next:
          `export contacts (people) in place of ${other}; if the rows are people, assign their columns: ` +
          '--mapping FILE',
      },
    );
  }
  const proposal = proposedMapping(first.header, proposeColumns(first.header, first.rows));
  throw new UsageProblem(
    'export.no-identifying-column',
    'no column identifies people: none is recognised as email, profile URL, or name with company',
    {
      where: columns.where(),
      next:
        'assign the columns in a mapping file, --mapping FILE: ' +
        (proposal === undefined
          ? '{"columns": {"email": "NAME OF THE COLUMN"}}'
          : `${proposal} is a proposal; check each column`),
    },
  );
}

/** A character other than those of single names and addresses. */
const separator = /[^\p{L}\p{M}\p{N}\s\-_.@/&'’()"]/gu;

/**
 * Refuses a file of one column if a character separates parts of its name, and is in most rows: the file has another
 * delimiter, or each line is in quotes. Otherwise `company^email` would pass for an address with the company in it.
 */
function refuseJoinedColumns(columns: Columns, { header: [name = '', ...others], rows }: FirstRows): void {
  if (others.length > 0) return;
  const delimiter = name.match(separator)?.find((mark) => {
    const parts = name.split(mark).filter((part) => part.trim() !== '');
    const having = rows.filter(([cell = '']) => cell.includes(mark));
    return parts.length > 1 && rows.length > 0 && having.length * 2 >= rows.length;
  });
  if (delimiter === undefined) return;
  const shown = JSON.stringify(delimiter);
  throw new UsageProblem(
    'export.unknown-delimiter',
    `the file has one column that seems to be several, separated by ${shown}`,
    {
      where: columns.where(),
      next: usualDelimiters.includes(delimiter)
        ? 'each line is in quotes: export the contacts again, and do not save the file with a spreadsheet program'
        : `write delimiter: ${shown} in a mapping file, and name the mapping file: --mapping FILE`,
    },
  );
}

/** `5.01234E+17`: what a spreadsheet program saves of a number with more digits than its column shows. */
const shortened = /^\d[.,]?\d*E\+\d+$/i;
/** A number of at least 17 digits, of which a spreadsheet program keeps 15. */
const rounded = /^\d{15}0{2,}$/;
/** A few numbers may end in zeros by themselves. */
const fewestRounded = 3;

/**
 * Refuses record ids that a spreadsheet program has shortened: they name no record of the CRM, or another one, which a
 * file for the importer would then change.
 *
 * @param column of the record ids, if there is one
 * @param isNamed a mapping file names the column: then ids that end in zeros are whole
 * @throws Problem `export.shortened-ids`
 */
export function refuseShortenedIds(
  path: string,
  { header, rows }: FirstRows,
  column: number | undefined,
  isNamed: boolean,
): void {
  if (column === undefined) return;
  const ids = filledCells(rows, column);
  const long = ids.filter((id) => /^\d{17,}$/.test(id));
  const areRounded = !isNamed && long.length >= fewestRounded && long.every((id) => rounded.test(id));
  if (!areRounded && !ids.some((id) => shortened.test(id))) return;
  throw new UsageProblem(
    'export.shortened-ids',
    `column "${shownHeader(header[column]!)}" has numbers that a spreadsheet program has shortened: they are no ` +
      'record ids of the CRM',
    {
      where: `${path}, column ${column + 1}, by its first rows`,
      next:
        'export the contacts again, and do not save the file with a spreadsheet program; to enrich them without ' +
        `record ids: --mapping FILE with {"ignore": [${column + 1}]}`,
    },
  );
}

/**
 * Notes of columns and cells that the operator may want to be read in another way, from the header and the first rows.
 *
 * @param chosen columns of each field
 * @param missed proposed fields of columns that are not read
 */
export function columnNotes(
  columns: Columns,
  first: FirstRows,
  chosen: Partial<Record<Field, readonly number[]>>,
  missed: readonly (Field | undefined)[],
): string[] {
  const emails = chosen.email ?? [];
  const names = [...(chosen.first_name ?? []), ...(chosen.last_name ?? []), ...(chosen.name ?? [])];
  return [
    ...privacyRecords(first.header),
    ...secondPeople(first),
    ...withoutAddresses(first, emails),
    ...cellNotes(first, emails, hasUnreadAddress).map(
      (cells) =>
        `${cells} with an address that cannot be read, such as one beside other text: ` +
        'correct the cells, because no call asks by these addresses',
    ),
    ...sharedAddresses(first, chosen),
    ...cellNotes(first, names, hasLostLetters).map(
      (cells) =>
        `${cells} with letters that a program has lost or misread, such as "?" or "Ã¼" within a word: export the ` +
        'contacts again as UTF-8, because a found person with the right name is paid for and refused',
    ),
    ...unusedColumns(first.header, missed),
    ...(chosen.opted_out?.length === 0 ? unreadNames(columns, first.header) : []),
  ];
}

/** The beginning of a note for each of these columns that has such cells. */
function cellNotes(
  { header, rows }: FirstRows,
  columns: readonly number[],
  isOdd: (cell: string) => boolean,
): string[] {
  return columns.flatMap((column) => {
    const odd = rows.filter((row) => isOdd(row[column] ?? '')).length;
    if (odd === 0) return [];
    const cells = `${counted(odd, 'cell')} in the first ${counted(rows.length, 'row')}`;
    return [`column "${shownHeader(header[column]!)}" has ${cells}`];
  });
}

function privacyRecords(header: readonly string[]): string[] {
  const privacyRecord = header.find((name) => headerKey(name) === 'individualid');
  return privacyRecord === undefined
    ? []
    : [
        `column "${privacyRecord}" points to privacy settings that are not in this file: they exclude no contact`,
      ];
}

function secondPeople({ header, rows }: FirstRows): string[] {
  const filled = header.filter(
    (name, column) => isSecondPerson(name) && filledCells(rows, column).length > 0,
  );
  return filled.length === 0
    ? []
    : [
        `rows hold a second person, who is not enriched (${shownHeaders(filled)}): to enrich this person too, write ` +
          'the columns into a file of their own',
      ];
}

/** How cells look that are no addresses, and the field that fits them. */
const looks: Readonly<Partial<Record<Field, string>>> = {
  hashed_email: 'MD5 or SHA-256 hashes',
  profile_url: 'profile URLs',
  domain: 'websites',
};

/** Notes of columns for addresses in which no cell is one: their rows are looked up without them, or not at all. */
function withoutAddresses({ header, rows }: FirstRows, emails: readonly number[]): string[] {
  return emails.flatMap((column) => {
    const cells = filledCells(rows, column);
    if (cells.length === 0 || cells.some((cell) => parseEmails(cell).length > 0)) return [];
    const values = cells.filter((cell) => !isNoValue(cell));
    const field = fieldOfCells(values);
    const look = field && looks[field];
    const number = column + 1;
    const fitting = look
      ? `its cells look like ${look}: --mapping FILE with {"columns": {"${field}": ${number}}}`
      : `its cells look like ${lookOf(values)}: if another column has the addresses, ` +
        `--mapping FILE with {"columns": {"email": "NAME OF THE COLUMN"}, "ignore": [${number}]}`;
    const first = `the first ${counted(cells.length, 'cell')}`;
    return [`column "${shownHeader(header[column]!)}" has no e-mail address in ${first}; ${fitting}`];
  });
}

function lookOf(values: readonly string[]): string {
  if (values.length === 0) return 'placeholders for a missing value';
  if (values.every((cell) => /^[\d\s()+./-]+$/.test(cell))) return 'numbers';
  return values.every((cell) => cell.includes('@')) ? 'addresses that are cut off or invalid' : 'other text';
}

/** Fields that show who the person at a shared address is. */
const besideSharedAddress = [
  'first_name',
  'last_name',
  'name',
  'profile_url',
  'person_id',
  'hashed_email',
] as const;

/** Notes of addresses by which no answer is accepted, in a file such as a list of companies. */
function sharedAddresses(first: FirstRows, chosen: Partial<Record<Field, readonly number[]>>): string[] {
  if (besideSharedAddress.some((field) => (chosen[field] ?? []).length > 0)) return [];
  const isShared = (cell: string): boolean => {
    const addresses = parseEmails(cell);
    return addresses.length > 0 && addresses.every(isRoleAddress);
  };
  return cellNotes(first, chosen.email ?? [], isShared).map(
    (cells) =>
      `${cells} with an address that several people read, such as info@, and no column has names: a person who is ` +
      'found by such an address is paid for, and no contact gets the data',
  );
}

/** A note of columns that are not read and seem to matter, with the way to read them. */
function unusedColumns(header: readonly string[], missed: readonly (Field | undefined)[]): string[] {
  const unused = missed.flatMap((field, column) =>
    field === undefined ? [] : [`"${shownHeader(header[column]!)}" (${field})`],
  );
  if (unused.length === 0) return [];
  const [columns, them] = unused.length === 1 ? ['this column is', 'it'] : ['these columns are', 'them'];
  const beforehand = missed.includes('contact_id')
    ? '; do so before the first run, because a contact_id that comes later makes a second contact of each record'
    : '';
  return [
    `${columns} not used, and may identify people or records: ${unused.join(', ')}; to use ${them}: --mapping FILE ` +
      `with ${proposedMapping(header, missed) ?? ''}, after you have checked it${beforehand}`,
  ];
}

/** A letter of another script than Latin: words for opting out are known in few languages of these. */
const otherScript = /(?!\p{Script=Latin})\p{L}/u;

/** A note if people could have opted out in a column whose name is not understood. */
function unreadNames(columns: Columns, header: readonly string[]): string[] {
  const unread = header.filter(
    (name, column) => columns.isFree(column) && otherScript.test(name) && !isUnderstood(name),
  );
  return unread.length === 0
    ? []
    : [
        `no column is known to say who has opted out, and these names are not understood: ` +
          `${shownHeaders(unread)}; if one says so, people who have opted out are paid for: ` +
          '--mapping FILE with {"columns": {"opted_out": "NAME"}}',
      ];
}
