import { comparisonForm } from '../../../domain/identity/values/normalise.ts';
import { parseDomain } from '../../../domain/identity/values/domain-name.ts';
import { parseEmails, parseHashedEmail } from '../../../domain/identity/values/email-address.ts';
import { parseProfileUrl } from '../../../domain/identity/values/profile-url.ts';
import { headerKey } from '../../../domain/text/header-name.ts';
import { commonNames } from './common-names.ts';
import { isNameOfPerson, type Field, type FirstRows } from '../fields.ts';
import { optOutOf } from '../opt-outs/opt-out.ts';
import { isKnownName } from './is-known-name.ts';

/** Fields that the form of the cells shows. */
const contents: readonly [Field, (cell: string) => unknown][] = [
  ['email', (cell) => parseEmails(cell)[0]],
  ['hashed_email', parseHashedEmail],
  ['profile_url', parseProfileUrl],
  ['domain', (cell) => (/^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+/.test(cell) ? parseDomain(cell) : undefined)],
];
/** Parts of names that are too general to recognise a column, and sufficient for a proposal. */
const hints: readonly [string, Field][] = [
  ['mail', 'email'],
  ['firm', 'organization_name'],
  ['company', 'organization_name'],
  ['employer', 'organization_name'],
  ['arbeitgeber', 'organization_name'],
  ['unternehmen', 'organization_name'],
  ['employeur', 'organization_name'],
  ['empleador', 'organization_name'],
  ['werkgever', 'organization_name'],
  ['linkedin', 'profile_url'],
  ['surname', 'last_name'],
];
const shortestName = 4;
/** `Confirmed`, `Firmware`: `firm` is no company. */
const noCompany = /(?:con|af)firm|firmware/g;
/** `Cust No`, `Kunden-Nr.`, `REF`, `Kundennummer`, `Identifiant`, `顧客番号`; by its capital letter `contactId`. */
const idNames = [
  /identifi(?:ant|er|cador|cativo|catore|catie)\b|kennung$|番号$/iu,
  /(?:^|[^\p{L}])(?:id|nr|no|n[°º]|num|ref|code|key|uuid|guid)\.?$|(?:nr|nummer|n[uú]mero|num[eé]ro|number)$/iu,
  /\p{Ll}(?:Id|ID)$/u,
];
/** Numbers and ids of something else: `Phone number`, `Zip code`, `Company ID`, `VAT no`, `電話番号`. */
const ofOthers =
  /phone|telefon|mobil|fax|\btel\b|zip|post|plz|vat|tax|compan|account|organi[sz]ation|firm|deal|campaign/i;
const ofOthersAbroad = /entreprise|soci[eé]t|empresa|aziend|unternehm|電話|携帯|郵便|会社|法人/i;
/** `4711`, `C-00017`, a UUID; no date, and no phone number. */
const idCell = /^(?!\d{4}-\d\d-\d\d$)(?!\+|0)(?=.*\d)[\w-]+$/;
/** `Mira Berg`, `Jan van den Berg`, `Dr. Ada Novak`: also a company or a place. */
const fullName =
  /^(?:\p{Lu}[\p{L}'’-]*\.?)(?: (?:\p{Ll}{1,4}|\p{Lu}[\p{L}'’-]*\.?)){0,3} \p{Lu}[\p{L}'’-]+$/u;

/**
 * Proposes fields for the columns of an unrecognised header: by the cells, then by a known name within the column's
 * name, then as full names if the cells look like names. A person must confirm a proposal. A column that names the
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
  const filled = header.map((_, column) =>
    rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== ''),
  );
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
      !detail.test(headerKey(each)) &&
      isFullName(rows.map((row) => ({ cell: row[column] ?? '', address: row[addresses] ?? '' }))),
  );
  const isNamed = (['name', 'first_name', 'last_name'] as const).some((field) => taken.has(field));
  return isNamed || name === -1 ? proposed : proposed.with(name, 'name');
}

const identifiers: readonly Field[] = ['email', 'hashed_email', 'profile_url'];

/**
 * Proposes fields for free columns that a person would want to be read: record ids, addresses and names that no column
 * has; without addresses, every field that no column has. A known CRM has its own columns of all but addresses and
 * profiles: others are of its companies or owners.
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
    !ofOthers.test(name) &&
    !ofOthersAbroad.test(name) &&
    (idNames.some((each) => each.test(name)) || (column === 0 && cells.every((cell) => idCell.test(cell)))) &&
    cells.length > 0 &&
    cells.every((cell) => /^\S+$/.test(cell)) &&
    new Set(cells).size === cells.length
  );
}

/** A cell without letters but with digits: a company can be called `1800`, but not in every row. */
const isNumber = (cell: string): boolean => /\d/.test(cell) && !/\p{L}/u.test(cell);

function fieldOfCells(cells: readonly string[]): Field | undefined {
  return contents.find(([, read]) => {
    const readable = cells.filter((cell) => read(cell) !== undefined).length;
    return readable > 0 && readable * 2 > cells.length;
  })?.[0];
}

/** `Company phone`, `Firmengröße`, `Address 1: City`: neither the company's name nor the person's. */
const detail =
  /(?:phone|fax|size|city|country|state|street|address|zip|industry|type|revenue|employees|größe|telefon)$/;

/** @param cells that are not empty: a name such as `Mailing street` is no reason to read them as addresses */
function fieldOfName(name: string, cells: readonly string[]): Field | undefined {
  // Opt-out columns are recognised without a mapping.
  if (optOutOf(name) !== undefined) return undefined;
  const field = fieldWithin(name);
  const read = contents.find(([each]) => each === field)?.[1];
  if (read && cells.length > 0 && !cells.some((cell) => read(cell) !== undefined)) return undefined;
  const isDetail = idNames.some((each) => each.test(name)) || detail.test(headerKey(name));
  return field === 'organization_name' && isDetail ? undefined : field;
}

function fieldWithin(name: string): Field | undefined {
  const key = headerKey(name).replaceAll(noCompany, '');
  return longestFirst().find(([each]) => key.includes(each))?.[1];
}

let keysOfFields: readonly [string, Field][] | undefined;

/** Computed once, when it is needed: the keys take a millisecond, and a header can have thousands of columns. */
function longestFirst(): readonly [string, Field][] {
  keysOfFields ??= Object.entries(commonNames)
    .flatMap(([field, names]) => names.map((each): [string, Field] => [headerKey(each), field as Field]))
    .concat(hints)
    .filter(([each]) => each.length >= shortestName)
    .toSorted(([one], [other]) => other.length - one.length);
  return keysOfFields;
}

/** Words for colleagues who work on a record, in CRMs and exports. */
const ownerWords = [
  'owner|rep|representative|salesperson|sales (?:person|manager|agent)|seller|csm',
  'assignee|assigned (?:to|user)',
  '(?:account|success|relationship|customer success) (?:manager|executive)|(?:created|modified|changed|updated) by',
  'besitzer|eigentumer|betreuer|kundenbetreuer',
  'zustandig(?:er|e)?|verantwortlich(?:er|e)?|bearbeiter',
  'erstellt von|geandert von|vertriebler|vertriebsmitarbeiter',
  'proprietaire|responsable|cree par|modifie par|propietario',
  'creado por|asignado a|eigenaar|aangemaakt door|proprietario|responsavel|criado por',
].join('|');
const ownerName = new RegExp(`(?:^| )(?:${ownerWords})(?: |$)`);

/** Whether a column names the colleague who owns, made or works on the record: `Owner Email`, `dealOwner`. */
function isOwnerColumn(name: string): boolean {
  const words = name.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').replace(/[^\p{L}\p{N}]+/gu, ' ');
  return ownerName.test(comparisonForm(words));
}
