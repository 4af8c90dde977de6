import { parseDomain, parseEmails, parseHashedEmail } from '../../domain/identity/values/email-address.ts';
import { comparisonForm } from '../../domain/identity/values/normalise.ts';
import { parseProfileUrl } from '../../domain/identity/values/profile-url.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import { filledCells, isNameOfPerson, type Field, type FirstRows } from './fields.ts';
import {
  fieldWithin,
  isDetailColumn,
  isKnownName,
  isNumberColumn,
  isOfOther,
  isOwnerColumn,
} from './known-headers.ts';
import { optOutOf } from './opt-outs.ts';

/** Fields that the form of the cells shows. */
const contents: readonly [Field, (cell: string) => unknown][] = [
  ['email', (cell) => parseEmails(cell)[0]],
  ['hashed_email', parseHashedEmail],
  ['profile_url', parseProfileUrl],
  ['domain', (cell) => (/^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+/.test(cell) ? parseDomain(cell) : undefined)],
];
/** `4711`, `C-00017`, a UUID; no date, and no phone number. */
const idCell = /^(?!\d{4}-\d\d-\d\d$)(?!\+|0)(?=.*\d)[\w-]+$/;
/** `Mira Berg`, `Jan van den Berg`, `Dr. Ada Novak`: also a company or a place. */
const fullName =
  /^(?:\p{Lu}[\p{L}'’-]*\.?)(?: (?:\p{Ll}{1,4}|\p{Lu}[\p{L}'’-]*\.?)){0,3} \p{Lu}[\p{L}'’-]+$/u;

/**
 * Proposes fields for the columns of an unrecognised header: by the cells, then by a known name within the column's
 * name, then as full names if the cells look like names. The operator must confirm a proposal. A column that names the
 * owner of a record is never proposed, because the owner is a colleague.
 *
 * @param rows the first rows
 * @returns a field for each column of the header; undefined: no proposal
 */
export function proposeColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): (Field | undefined)[] {
  const taken = new Set<Field>();
  const once = (field: Field | undefined): Field | undefined => {
    if (field === undefined || (field !== 'email' && taken.has(field))) return undefined;
    taken.add(field);
    return field;
  };
  const isOther = header.map(isOwnerColumn);
  const filled = header.map((_, column) => filledCells(rows, column));
  const byCells = filled.map((cells, column) => (isOther[column] ? undefined : once(fieldOfCells(cells))));
  const proposed = header.map((name, column) => {
    if (isOther[column]) return undefined;
    const field = byCells[column] ?? fieldOfName(name, filled[column]!);
    const isCompany =
      field !== 'organization_name' || rows.length === 0 || rows.some((row) => !isNumber(row[column] ?? ''));
    return byCells[column] ?? (isCompany ? once(field) : undefined);
  });
  const isFree = (column: number): boolean => proposed[column] === undefined && !isOther[column];
  const id = header.findIndex((name, column) => isFree(column) && isId(name, rows, column));
  if (!taken.has('contact_id') && id !== -1) proposed[id] = 'contact_id';
  const addresses = proposed.indexOf('email');
  const name = header.findIndex(
    (each, column) =>
      isFree(column) &&
      !isKnownName(headerKey(each)) &&
      !isDetailColumn(each) &&
      isFullName(rows.map((row) => ({ cell: row[column] ?? '', address: row[addresses] ?? '' }))),
  );
  const isNamed = (['name', 'first_name', 'last_name'] as const).some((field) => taken.has(field));
  return isNamed || name === -1 ? proposed : proposed.with(name, 'name');
}

/**
 * The content of a mapping file that assigns these columns to their fields; undefined: no column has a field. A column
 * whose name is repeated, missing or like that of a person is named by its number.
 */
export function proposedMapping(
  header: readonly string[],
  fields: readonly (Field | undefined)[],
): string | undefined {
  const columns: Partial<Record<Field, (string | number)[]>> = {};
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

const identifiers: readonly Field[] = ['email', 'hashed_email', 'profile_url'];

/**
 * Proposes fields for free columns that the operator would want to be read: record ids, addresses and names that no
 * column has; without addresses, every field that no column has. A known CRM has its own columns of all but addresses
 * and profiles: others are of its companies or owners.
 *
 * @param isFree whether a column is neither read nor ignored
 * @param chosen columns of each field
 */
export function proposeMissedColumns(
  { header, rows }: FirstRows,
  isFree: (column: number) => boolean,
  isKnownCrm: boolean,
  chosen: Partial<Record<Field, readonly number[]>>,
): (Field | undefined)[] {
  const isMissing = (field: Field): boolean => (chosen[field] ?? []).length === 0;
  const lacksAddresses = isMissing('email') && isMissing('hashed_email');
  const lacksNames = isMissing('name') && (isMissing('first_name') || isMissing('last_name'));
  if (!lacksAddresses && (isKnownCrm || (!isMissing('contact_id') && !lacksNames)))
    return header.map(() => undefined);
  const proposed = proposeColumns(header, rows);
  // Without addresses to compare, a column of cities looks like names.
  const showNames = identifiers.every(isMissing) || !isMissing('email') || proposed.includes('email');
  const isMissed = (field: Field): boolean => {
    if (!isMissing(field) || (isKnownCrm && !identifiers.includes(field))) return false;
    if (isNameOfPerson(field)) return lacksNames && showNames;
    return lacksAddresses || field === 'contact_id';
  };
  return proposed.map((field, column) =>
    field !== undefined && isMissed(field) && isFree(column) ? field : undefined,
  );
}

/** Whether most cells look like full names of different people, and have a word in common with the row's address. */
function isFullName(rows: readonly { readonly cell: string; readonly address: string }[]): boolean {
  const filled = rows
    .map(({ cell, address }) => ({ cell: cell.trim(), user: comparisonForm(address.split('@')[0]!) }))
    .filter(({ cell }) => cell !== '');
  const names = filled.filter(({ cell, user }) => {
    const words = comparisonForm(cell).split(' ');
    const agrees = words.some((word) => word.length >= 3 && user.includes(word));
    return fullName.test(cell.replace(', ', ' ')) && (user === '' || agrees);
  });
  return new Set(names.map(({ cell }) => cell)).size * 2 > filled.length;
}

/**
 * Whether a column has the name of an id, or is the first column and looks like ids, and each row has another value.
 */
function isId(name: string, rows: readonly (readonly string[])[], column: number): boolean {
  const cells = rows.map((row) => (row[column] ?? '').trim());
  return (
    !isOfOther(name) &&
    (isNumberColumn(name) || (column === 0 && cells.every((cell) => idCell.test(cell)))) &&
    cells.length > 0 &&
    cells.every((cell) => /^\S+$/.test(cell)) &&
    new Set(cells).size === cells.length
  );
}

/** A cell without letters but with digits: a company can be called `1800`, but not in every row. */
const isNumber = (cell: string): boolean => /\d/.test(cell) && !/\p{L}/u.test(cell);

/** The field whose form most of these cells have. @param cells that are not empty */
export function fieldOfCells(cells: readonly string[]): Field | undefined {
  return contents.find(([, read]) => {
    const readable = cells.filter((cell) => read(cell) !== undefined).length;
    return readable > 0 && readable * 2 > cells.length;
  })?.[0];
}

/** @param cells that are not empty: a name such as `Mailing street` is no reason to read them as addresses */
function fieldOfName(name: string, cells: readonly string[]): Field | undefined {
  // Opt-out columns are recognised without a mapping.
  if (optOutOf(name) !== undefined) return undefined;
  const field = fieldWithin(name);
  const read = contents.find(([each]) => each === field)?.[1];
  if (read && cells.length > 0 && !cells.some((cell) => read(cell) !== undefined)) return undefined;
  return field === 'organization_name' && (isNumberColumn(name) || isDetailColumn(name)) ? undefined : field;
}
