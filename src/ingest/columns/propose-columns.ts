import { parseDomain } from '../../domain/identity/values/email-address.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import {
  cellReaders,
  filledCells,
  isNameOfPerson,
  type ColumnsOfPeople,
  type ContactField,
  type FirstRows,
} from './fields.ts';
import { fieldWithin, isNumberColumn, isOfOther, isOwnerColumn } from './known-headers.ts';
import { optOutOf } from './opt-outs.ts';

/** Fields that the form of the cells shows. */
const contents: readonly [ContactField, (cell: string) => unknown][] = [
  ['email', cellReaders.email],
  ['hashed_email', cellReaders.hashed_email],
  ['profile_url', cellReaders.profile_url],
  ['domain', (cell) => (/^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+/.test(cell) ? parseDomain(cell) : undefined)],
];

/**
 * Proposes fields for the columns of an unrecognised header: by the cells, then by a known name within the column's
 * name. The operator must confirm a proposal. A column that names the owner of a record is never proposed, because the
 * owner is a colleague.
 *
 * @param rows the first rows
 * @returns a field for each column of the header; undefined: no proposal
 */
export function proposeColumns(
  header: readonly string[],
  rows: FirstRows['rows'],
): (ContactField | undefined)[] {
  const taken = new Set<ContactField>();
  const once = (field: ContactField | undefined): ContactField | undefined => {
    if (field === undefined || (field !== 'email' && taken.has(field))) return undefined;
    taken.add(field);
    return field;
  };
  const columns = header.map((name, column) => ({ name, cells: filledCells(rows, column) }));
  const proposed: (ContactField | undefined)[] = header.map(() => undefined);
  for (const fieldOf of [
    (_: string, cells: readonly string[]) => fieldOfCells(cells),
    fieldOfName,
    (name: string, cells: readonly string[]) => (isId(name, cells, rows.length) ? 'contact_id' : undefined),
  ])
    for (const [at, { name, cells }] of columns.entries())
      if (!isOwnerColumn(name)) proposed[at] ??= once(fieldOf(name, cells));
  return proposed;
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

const identifiers: readonly ContactField[] = ['email', 'hashed_email', 'profile_url'];

/**
 * Proposes fields for free columns that the operator would want to be read: record ids and names that no column has;
 * without addresses, every field that no column has. A known CRM has its own columns of all but addresses and profiles:
 * others are of its companies or owners.
 *
 * @param isFree whether a column is neither read nor ignored
 */
export function proposeMissedColumns(
  { header, rows }: FirstRows,
  isFree: (column: number) => boolean,
  isKnownCrm: boolean,
  fields: ColumnsOfPeople,
): (ContactField | undefined)[] {
  const isMissing = (field: ContactField): boolean => fields[field].length === 0;
  const lacksAddresses = isMissing('email') && isMissing('hashed_email');
  const lacksNames = isMissing('name') && (isMissing('first_name') || isMissing('last_name'));
  const isMissed = (field: ContactField): boolean => {
    if (!isMissing(field)) return false;
    if (isKnownCrm) return lacksAddresses && identifiers.includes(field);
    return lacksAddresses || field === 'contact_id' || (isNameOfPerson(field) && lacksNames);
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

/** @param cells that are not empty: a name such as `Mailing street` is no reason to read them as addresses */
function fieldOfName(name: string, cells: readonly string[]): ContactField | undefined {
  // Opt-out columns are recognised without a mapping.
  if (optOutOf(name) !== undefined) return undefined;
  const field = fieldWithin(name);
  if (field === 'organization_name' && isNumberColumn(name)) return undefined;
  const read = contents.find(([each]) => each === field)?.[1];
  return read && cells.length > 0 && !cells.some((cell) => read(cell) !== undefined) ? undefined : field;
}
