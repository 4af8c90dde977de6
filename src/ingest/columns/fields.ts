import { exportFields } from '../../domain/crm/crm.ts';
import { parseDomain, parseEmails, parseHashedEmail } from '../../domain/identity/values/email-address.ts';
import { isPlaceholder, parseName } from '../../domain/identity/values/normalise.ts';
import { parseProfileUrl } from '../../domain/identity/values/profile-url.ts';

/** The header of an export, and its first rows as samples of the cells. */
export interface ExportSample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export type ContactField = (typeof exportFields)[number];
export type ExportField = ContactField | 'opted_out' | 'opted_out_of_calls';

/** The columns that identify people: positions from 0, in order of preference. */
export type ColumnsOfPeople = Readonly<Record<ContactField, readonly number[]>>;

/** What an opt-out forbids: any lookup of the contact (`processing`), or only requests for phone numbers (`calls`). */
export type OptOutScope = 'processing' | 'calls';

export const fieldOfOptOutScope = {
  processing: 'opted_out',
  calls: 'opted_out_of_calls',
} as const satisfies Record<OptOutScope, ExportField>;

/** Returns the trimmed cells of a column, without blank ones. */
export function filledCells(rows: ExportSample['rows'], column: number): string[] {
  return rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
}

/** Matches placeholders for a missing value, such as `n/a` or `-`. */
const noValue = /^(?:n\/?a|none|null|nil|unknown|undefined|no e-?mail|no|-+|\?+|\.)$/i;

export function meansNoValue(cell: string): boolean {
  return noValue.test(cell) || isPlaceholder(cell);
}

/**
 * Returns any cell but an e-mail, which shows that a column has no ids or companies. Some programs use e-mails as ids.
 */
const noAddress = (cell: string): string | undefined =>
  parseEmails(cell)[0] === undefined ? cell : undefined;

/** Reads a cell as a field. Undefined: it cannot be read. */
const cellReaders: Readonly<Record<ContactField, (cell: string) => string | undefined>> = {
  contact_id: noAddress,
  person_id: noAddress,
  first_name: parseName,
  last_name: parseName,
  name: parseName,
  organization_name: noAddress,
  email: (cell) => parseEmails(cell)[0],
  hashed_email: parseHashedEmail,
  profile_url: parseProfileUrl,
  domain: parseDomain,
};

/** True if half of the cells, or one of a column of names, can be read as the field: people type e-mails as names. */
export function cellsFitField(rows: ExportSample['rows'], column: number, field: ContactField): boolean {
  const cells = filledCells(rows, column).filter((cell) => !meansNoValue(cell));
  const unreadable = cells.filter((cell) => cellReaders[field](cell) === undefined).length;
  const isName = field === 'first_name' || field === 'last_name' || field === 'name';
  return cells.length === 0 || (isName ? unreadable < cells.length : unreadable * 2 <= cells.length);
}

/** Returns the mapping that a run stores: fields by column name. A column without a unique name has its number. */
export function recordedMapping(
  header: readonly string[],
  columns: {
    readonly fields: ColumnsOfPeople;
    readonly optOuts: readonly { readonly column: number; readonly scope: OptOutScope }[];
  },
): Record<string, ExportField> {
  const fields = new Map<number, ExportField>();
  for (const field of exportFields) for (const column of columns.fields[field]) fields.set(column, field);
  for (const { column, scope } of columns.optOuts) fields.set(column, fieldOfOptOutScope[scope]);
  // `Object.fromEntries` also handles a column that is called `__proto__`.
  return Object.fromEntries(
    recordedNames(header).flatMap((name, column) => {
      const field = fields.get(column);
      return field === undefined ? [] : [[name, field]];
    }),
  );
}

/** Returns the field of each column in a header, from the stored mapping. */
export function fieldsOfHeader<Chosen>(
  header: readonly string[],
  mapping: Readonly<Record<string, Chosen>>,
): (Chosen | undefined)[] {
  return recordedNames(header).map((name) =>
    // Without `hasOwn`, a column that is called `constructor` would find a property of every object.
    Object.hasOwn(mapping, name) ? mapping[name] : undefined,
  );
}

/** Returns the names of a header's columns as the stored mapping has them. All of them differ. */
export function recordedNames(header: readonly string[]): string[] {
  const seen = new Set<string>();
  return header.map((name, column) => {
    const isDistinct = name !== '' && !seen.has(name);
    seen.add(name);
    return isDistinct ? name : `${name} (column ${column + 1})`.trimStart();
  });
}
