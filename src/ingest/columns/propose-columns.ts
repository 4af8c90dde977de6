import { parseDomain } from '../../domain/identity/values/email-address.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import {
  cellReaders,
  filledCells,
  type ColumnsOfPeople,
  type ContactField,
  type FirstRows,
} from './fields.ts';
import { isNumberColumn, isOfOther, isOwnerColumn } from './known-headers.ts';

/** Fields that the form of the cells shows. */
const contents: readonly [ContactField, (cell: string) => unknown][] = [
  ['email', cellReaders.email],
  ['hashed_email', cellReaders.hashed_email],
  ['profile_url', cellReaders.profile_url],
  ['domain', (cell) => (/^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+/.test(cell) ? parseDomain(cell) : undefined)],
];

/**
 * Proposes fields for the columns of an unrecognised header: by the form of their cells, and the first column of ids.
 * The operator must confirm a proposal. A column that names the owner of a record is never proposed, because the owner
 * is a colleague.
 *
 * @param rows the first rows
 * @returns a field for each column of the header; undefined: no proposal
 */
export function proposeColumns(
  header: readonly string[],
  rows: FirstRows['rows'],
): (ContactField | undefined)[] {
  const taken = new Set<ContactField>();
  return header.map((name, column) => {
    const cells = filledCells(rows, column);
    const field = isOwnerColumn(name)
      ? undefined
      : (fieldOfCells(cells) ?? (isId(name, cells, rows.length) ? 'contact_id' : undefined));
    if (field === undefined || (field !== 'email' && taken.has(field))) return undefined;
    taken.add(field);
    return field;
  });
}

/**
 * The content of a mapping file that assigns these columns to their fields; undefined: no column has a field. A column
 * whose name is repeated, missing or like that of a person is named by its number.
 */
export function proposedMapping(
  header: readonly string[],
  fields: readonly (ContactField | undefined)[],
): string | undefined {
  const columns: Partial<Record<ContactField, (string | number)[]>> = {};
  for (const [at, field] of fields.entries()) {
    if (field === undefined) continue;
    const name = header[at]!;
    const isUnique = header.indexOf(name) === header.lastIndexOf(name);
    const isName = name !== '' && isUnique && withoutPersonalData(name) === name;
    (columns[field] ??= []).push(isName ? name : at + 1);
  }
  const entries = Object.entries(columns);
  if (entries.length === 0) return undefined;
  const named = entries.map(([field, list]) => [field, list.length === 1 ? list[0] : list]);
  return JSON.stringify({ columns: Object.fromEntries(named) as object });
}

/**
 * Proposes fields for free columns that the operator would want to be read: record ids; without addresses, every field
 * that no column has. A known CRM has its own columns of all but addresses and profiles: others are of its companies or
 * owners.
 *
 * @param isFree whether a column is neither read nor ignored
 */
export function proposeMissedColumns(
  { header, rows }: FirstRows,
  isFree: (column: number) => boolean,
  isKnownCrm: boolean,
  fields: ColumnsOfPeople,
): (ContactField | undefined)[] {
  const lacksAddresses = fields.email.length === 0 && fields.hashed_email.length === 0;
  const isMissed = (field: ContactField): boolean => {
    if (fields[field].length > 0) return false;
    if (field === 'contact_id') return !isKnownCrm;
    return lacksAddresses && (field !== 'domain' || !isKnownCrm);
  };
  return proposeColumns(header, rows).map((field, column) =>
    field !== undefined && isMissed(field) && isFree(column) ? field : undefined,
  );
}

/** Whether a column has the name of an id, and each row has another value. */
function isId(name: string, cells: readonly string[], rows: number): boolean {
  return (
    isNumberColumn(name) &&
    !isOfOther(name) &&
    cells.length > 0 &&
    cells.length === rows &&
    cells.every((cell) => /^\S+$/.test(cell)) &&
    new Set(cells).size === cells.length
  );
}

/** The field whose form most of these cells have. @param cells that are not empty */
function fieldOfCells(cells: readonly string[]): ContactField | undefined {
  return contents.find(([, read]) => {
    const readable = cells.filter((cell) => read(cell) !== undefined).length;
    return readable > 0 && readable * 2 > cells.length;
  })?.[0];
}
