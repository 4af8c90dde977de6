import { hasUnreadAddress, isRoleAddress, parseEmails } from '../../domain/identity/values/email-address.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { counted } from '../../domain/text/format.ts';
import { shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import { usualDelimiters } from '../reading/records.ts';
import type { Columns } from './columns.ts';
import { filledCells, type ColumnsOfPeople, type ContactField, type FirstRows } from './fields.ts';
import { isSecondPerson, isUnderstood, otherObjectOf } from './known-headers.ts';
import type { ExportMapping } from './mapping-file.ts';
import { proposedMapping } from './propose-columns.ts';

/**
 * Refuses a file without people: no column identifies people, or there is only a column `name` beside columns of
 * companies or deals.
 *
 * @throws Problem `export.other-object`, `export.no-identifying-column`, `export.unknown-delimiter`
 */
export function refuseWithoutPeople(
  columns: Columns,
  first: FirstRows,
  fields: ColumnsOfPeople,
  missed: readonly (ContactField | undefined)[],
  mapping: ExportMapping | undefined,
): void {
  if (mapping?.columns === undefined) refuseJoinedColumns(columns, first);
  const has = (field: ContactField): boolean => fields[field].length > 0;
  const employed = has('organization_name') || has('domain');
  if ((['email', 'hashed_email', 'profile_url', 'person_id'] as const).some(has)) return;
  if (has('first_name') && has('last_name') && employed) return;
  const other = otherObjectOf(first.header);
  // In an export of companies a bare name is the company's own.
  const isPerson =
    other === undefined ||
    mapping?.columns?.name !== undefined ||
    (other === 'companies' && has('organization_name'));
  if (has('name') && employed && isPerson) return;
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
  const proposal = proposedMapping(first.header, missed);
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
 * @param hasOptOuts a column says who has opted out of processing
 * @param missed proposed fields of columns that are not read
 */
export function columnNotes(
  first: FirstRows,
  isFree: (column: number) => boolean,
  { fields, hasOptOuts }: { readonly fields: ColumnsOfPeople; readonly hasOptOuts: boolean },
  missed: readonly (ContactField | undefined)[],
): string[] {
  const { header, rows } = first;
  const emails = fields.email;
  const names = [...fields.first_name, ...fields.last_name, ...fields.name];
  const second = header.filter((name, at) => isSecondPerson(name) && filledCells(rows, at).length > 0);
  const isNamed = [names, fields.profile_url, fields.person_id, fields.hashed_email].some(
    (list) => list.length > 0,
  );
  return [
    ...noteOf(
      second,
      (shown) =>
        `rows hold a second person, who is not enriched (${shown}): to enrich this person too, write the columns ` +
        'into a file of their own',
    ),
    ...noteOf(
      header.filter((_, at) => emails.includes(at) && hasNoAddress(filledCells(rows, at))),
      (shown) =>
        `no cell of the first ${counted(rows.length, 'row')} is an e-mail address in the columns for addresses ` +
        `(${shown}): to read another column, --mapping FILE with {"columns": {"email": "NAME"}}`,
    ),
    ...cellNotes(
      first,
      emails,
      hasUnreadAddress,
      'with an address that cannot be read, such as one beside other text: correct the cells, because no call asks ' +
        'by these addresses',
    ),
    // By such addresses no answer is accepted.
    ...cellNotes(
      first,
      isNamed ? [] : emails,
      isShared,
      'with an address that several people read, such as info@, and no column has names: a person who is found by ' +
        'such an address is paid for, and no contact gets the data',
    ),
    ...cellNotes(
      first,
      names,
      hasLostLetters,
      'with letters that a program has lost or misread, such as "?" or "Ã¼" within a word: export the contacts again ' +
        'as UTF-8, because a found person with the right name is paid for and refused',
    ),
    ...unusedColumns(header, missed),
    ...noteOf(
      hasOptOuts ? [] : header.filter((name, column) => isFree(column) && isUnread(name)),
      (shown) =>
        `no column is known to say who has opted out, and these names are not understood: ${shown}; if one says so, ` +
        'people who have opted out are paid for: --mapping FILE with {"columns": {"opted_out": "NAME"}}',
    ),
  ];
}

function noteOf(names: readonly string[], text: (shown: string) => string): string[] {
  return names.length === 0 ? [] : [text(shownHeaders(names))];
}

/** A note for each of these columns that has such cells. */
function cellNotes(
  { header, rows }: FirstRows,
  columns: readonly number[],
  isOdd: (cell: string) => boolean,
  text: string,
): string[] {
  return columns.flatMap((column) => {
    const odd = rows.filter((row) => isOdd(row[column] ?? '')).length;
    if (odd === 0) return [];
    const cells = `${counted(odd, 'cell')} in the first ${counted(rows.length, 'row')}`;
    return [`column "${shownHeader(header[column]!)}" has ${cells} ${text}`];
  });
}

function hasNoAddress(cells: readonly string[]): boolean {
  return cells.length > 0 && cells.every((cell) => parseEmails(cell).length === 0);
}

function isShared(cell: string): boolean {
  const addresses = parseEmails(cell);
  return addresses.length > 0 && addresses.every(isRoleAddress);
}

/** A note of columns that are not read and seem to matter, with the way to read them. */
function unusedColumns(header: readonly string[], missed: readonly (ContactField | undefined)[]): string[] {
  const unused = missed.flatMap((field, column) =>
    field === undefined ? [] : [`"${shownHeader(header[column]!)}" (${field})`],
  );
  if (unused.length === 0) return [];
  const beforehand = missed.includes('contact_id')
    ? '; do so before the first run, because a contact_id that comes later makes a second contact of each record'
    : '';
  return [
    `columns that are not used, and may identify people or records: ${unused.join(', ')}; to use them: --mapping ` +
      `FILE with ${proposedMapping(header, missed) ?? ''}, after you have checked it${beforehand}`,
  ];
}

/** Words for opting out are known in few languages of other scripts than Latin. */
function isUnread(name: string): boolean {
  return /(?!\p{Script=Latin})\p{L}/u.test(name) && !isUnderstood(name);
}

/** What Windows-1252 reads from the bytes 0xa1 to 0xbf and 0x80 to 0x9b, without letters, quotes and dashes. */
const laterByte = '[¡-¿€‚„…†‡ˆ‰‹•˜™›]';

const lost = new RegExp(
  [
    '�',
    // M?ller, ?ukasz
    '(?:^|[ \\p{L}])\\?\\p{L}',
    // MÃ¼ller, Å‚ukasz: UTF-8 that was read as Windows-1252
    `[ÂÃÄÅÎÏÐÑ×ØÙ]${laterByte}|[à-ï]${laterByte}{2}`,
  ].join('|'),
  'u',
);

/** Whether a program has lost or misread letters of a name, because of an encoding. */
export function hasLostLetters(name: string): boolean {
  return lost.test(displayForm(name));
}
