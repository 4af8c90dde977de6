import { localHeaders } from '../../domain/crm/local-headers.ts';
import { hasUnreadAddress } from '../../domain/identity/email-address.ts';
import { counted } from '../../domain/text/counted.ts';
import { headerKey, shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import type { Columns } from './columns.ts';
import { flagWarnings, unreadFlags } from './opt-outs/consent-flags.ts';
import type { Field } from './fields.ts';
import { optOutOf } from './opt-outs/opt-out.ts';
import { proposeColumns } from './propose-columns.ts';
import { foreignIds } from './recognise-export.ts';

interface FirstRows {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Warnings of what a person would want to be read otherwise, by the header and the first rows.
 *
 * @param source whose columns these are: a recognised CRM's, of a name without known columns, or unknown
 * @param chosen columns of each field
 */
export function columnWarnings(
  columns: Columns,
  layout: FirstRows,
  source: 'recognised' | 'named' | 'unknown',
  chosen: Partial<Record<Field, readonly number[]>>,
): string[] {
  const shortened = shortenedIds(layout, chosen.contact_id?.[0]);
  const flags = unreadFlags(columns, layout);
  return [
    ...privacyRecords(layout.header),
    ...shortened,
    ...(source === 'unknown' && shortened.length === 0 ? foreignIds(layout.header, layout.rows) : []),
    ...unreadAddresses(layout, chosen.email ?? []),
    ...unusedColumns(columns, layout, source === 'recognised', chosen),
    ...flagWarnings(layout.header, flags),
    ...(chosen.opted_out?.length === 0 ? unreadNames(columns, layout.header, flags) : []),
  ];
}

/** A letter of another script than Latin: words for opting out are known in few languages of these. */
const otherScript = /(?!\p{Script=Latin})\p{L}/u;
const understood = new Set(Object.values(localHeaders).flat().map(headerKey));

/** A warning if people could have opted out in a column whose name is not understood. */
function unreadNames(columns: Columns, header: readonly string[], flags: readonly number[]): string[] {
  const unread = header.filter(
    (name, column) =>
      columns.isFree(column) &&
      otherScript.test(name) &&
      !flags.includes(column) &&
      optOutOf(name) === undefined &&
      !understood.has(headerKey(name)),
  );
  return unread.length === 0
    ? []
    : [
        `no column is known to say who has opted out, and these names are not understood: ` +
          `${shownHeaders(unread)}; if one says so, people who have opted out are paid for: ` +
          '--mapping FILE with {"columns": {"opted_out": "NAME"}}',
      ];
}

/** Warnings of cells whose addresses are not read: the rows are looked up without them, or not at all. */
function unreadAddresses({ header, rows }: FirstRows, emails: readonly number[]): string[] {
  return emails.flatMap((column) => {
    const unread = rows.filter((row) => hasUnreadAddress(row[column] ?? '')).length;
    return unread === 0
      ? []
      : [
          `column "${shownHeader(header[column]!)}" has ${counted(unread, 'cell')} in the first ` +
            `${counted(rows.length, 'row')} with an address beside other text: these addresses are not read`,
        ];
  });
}

/**
 * Warnings about unused columns that seem to matter: columns that identify people, if no other column does, and record
 * ids, because a later mapping makes a second contact of each record. The record ids of a known CRM are recognised:
 * other columns with ids are of its companies or owners.
 *
 * @param chosen columns of each field
 */
function unusedColumns(
  columns: Columns,
  { header, rows }: FirstRows,
  isKnownCrm: boolean,
  chosen: Partial<Record<Field, readonly number[]>>,
): string[] {
  const isMissing = (field: Field): boolean => (chosen[field] ?? []).length === 0;
  const identifiers: readonly Field[] = ['email', 'hashed_email', 'profile_url'];
  const missing = new Map<Field, string>(
    identifiers.every(isMissing) ? identifiers.map((field) => [field, `the people's ${field}`]) : [],
  );
  if (!isKnownCrm && isMissing('contact_id')) missing.set('contact_id', 'the record ids');
  if (missing.size === 0) return [];
  return proposeColumns(header, rows).flatMap((field, column) =>
    field !== undefined && missing.has(field) && columns.isFree(column)
      ? [
          `column "${shownHeader(header[column]!)}" seems to hold ${missing.get(field)!}, and is not used; ` +
            `to use it: --mapping FILE with {"columns": {"${field}": ${column + 1}}}`,
        ]
      : [],
  );
}

/** `5.01234E+17`: what a spreadsheet program saves of a number with more digits than its column shows. */
const shortened = /^\d[.,]?\d*E\+\d+$/i;
/** A number of at least 17 digits, of which a spreadsheet program keeps 15. */
const rounded = /^\d{15}0{2,}$/;
/** A few numbers may end in zeros by themselves. */
const fewestRounded = 3;

/** A warning if record ids are not those of the CRM any more: contacts with them have no record there. */
function shortenedIds({ header, rows }: FirstRows, column: number | undefined): string[] {
  if (column === undefined) return [];
  const ids = rows.map((row) => (row[column] ?? '').trim());
  const long = ids.filter((id) => /^\d{17,}$/.test(id));
  const areRounded = long.length >= fewestRounded && long.every((id) => rounded.test(id));
  if (!areRounded && !ids.some((id) => shortened.test(id))) return [];
  return [
    `column "${shownHeader(header[column]!)}" has numbers that a spreadsheet program has shortened: they are no ` +
      'record ids of the CRM; export the contacts again, and do not save the file with a spreadsheet program',
  ];
}

function privacyRecords(header: readonly string[]): string[] {
  const privacyRecord = header.find((name) => headerKey(name) === 'individualid');
  return privacyRecord === undefined
    ? []
    : [
        `column "${privacyRecord}" points to privacy settings that are not in this file: they exclude no contact`,
      ];
}
