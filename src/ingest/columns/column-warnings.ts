import { localHeaders } from '../../domain/crm/local-headers.ts';
import { hasUnreadAddress, isRoleAddress, parseEmails } from '../../domain/identity/values/email-address.ts';
import { hasLostLetters } from '../../domain/identity/values/lost-letters.ts';
import { counted } from '../../domain/text/counted.ts';
import { headerKey, shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import type { Columns } from './columns.ts';
import { flagWarnings, unreadFlags } from './opt-outs/consent-flags.ts';
import type { Field, FirstRows } from './fields.ts';
import { optOutOf } from './opt-outs/opt-out.ts';
import { foreignIds } from './recognition/recognise-export.ts';

/**
 * Warnings of columns and cells that a person may want to be read in another way, from the header and the first rows.
 *
 * @param read.isUnknown the columns are of no recognised CRM, and no source is named
 * @param read.chosen columns of each field
 * @param read.missed proposed fields of columns that are not read
 */
export function columnWarnings(
  columns: Columns,
  layout: FirstRows,
  {
    isUnknown,
    chosen,
    missed,
  }: {
    readonly isUnknown: boolean;
    readonly chosen: Partial<Record<Field, readonly number[]>>;
    readonly missed: readonly (Field | undefined)[];
  },
): string[] {
  const flags = unreadFlags(columns, layout);
  return [
    ...privacyRecords(layout.header),
    ...(isUnknown ? foreignIds(layout) : []),
    ...unreadAddresses(layout, chosen.email ?? []),
    ...sharedAddresses(layout, chosen),
    ...lostLetters(layout, [
      ...(chosen.first_name ?? []),
      ...(chosen.last_name ?? []),
      ...(chosen.name ?? []),
    ]),
    ...unusedColumns(layout.header, missed),
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
function unreadAddresses(layout: FirstRows, emails: readonly number[]): string[] {
  return cellWarnings(layout, emails, hasUnreadAddress).map(
    (cells) =>
      `${cells} with an address that cannot be read, such as one beside other text: ` +
      'correct the cells, because no call asks by these addresses',
  );
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

/** Warnings of addresses by which no answer is accepted, in a file such as a list of companies. */
function sharedAddresses(layout: FirstRows, chosen: Partial<Record<Field, readonly number[]>>): string[] {
  if (besideSharedAddress.some((field) => (chosen[field] ?? []).length > 0)) return [];
  const isShared = (cell: string): boolean => {
    const addresses = parseEmails(cell);
    return addresses.length > 0 && addresses.every(isRoleAddress);
  };
  return cellWarnings(layout, chosen.email ?? [], isShared).map(
    (cells) =>
      `${cells} with an address that several people read, such as info@, and no column has names: a person who is ` +
      'found by such an address is paid for, and no contact gets the data',
  );
}

/** Warnings of names that no person has: a found person is then paid for, and refused because of the other name. */
function lostLetters(layout: FirstRows, names: readonly number[]): string[] {
  return cellWarnings(layout, names, hasLostLetters).map(
    (cells) =>
      `${cells} with letters that a program has lost or misread, such as "?" or "Ã¼" within a word: export the ` +
      'contacts again as UTF-8, because a found person with the right name is paid for and refused',
  );
}

/** The beginning of a warning for each of these columns that has such cells. */
function cellWarnings(
  { header, rows }: FirstRows,
  columns: readonly number[],
  isOdd: (cell: string) => boolean,
): string[] {
  return columns.flatMap((column) => {
    const odd = rows.filter((row) => isOdd(row[column] ?? '')).length;
    return odd === 0
      ? []
      : [
          `column "${shownHeader(header[column]!)}" has ${counted(odd, 'cell')} in the first ` +
            counted(rows.length, 'row'),
        ];
  });
}

/** A warning of columns that are not read and seem to matter, with the way to read them. */
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
    `${columns} not used, and may identify people or records: ${unused.join(', ')}; to use ${them}: ` +
      `--write-mapping FILE writes a proposal, and after you have checked FILE, --mapping FILE reads it${beforehand}`,
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
