import {
  parseDomain,
  emailDomain,
  isSharedMailbox,
  parseEmails,
  parseHashedEmail,
  isFreeMailDomain,
} from '../../domain/identity/values/email-address.ts';
import {
  identityKeys,
  isNamelessMailboxKey,
  maxPersonIdLength,
} from '../../domain/identity/identity-keys.ts';
import type { Identity } from '../../domain/identity/identity.ts';
import {
  displayForm,
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../domain/identity/values/normalise.ts';
import type { Outcome } from '../../domain/runs/outcome.ts';
import { parseProfileUrl } from '../../domain/identity/values/profile-url.ts';
import type { ColumnMap } from './column-map.ts';
import { meansNoValue, type OptOutScope } from './fields.ts';
import { contactIdOf } from './recognise-export.ts';

export interface StagedRow {
  readonly rowNumber: number;
  readonly contactId: string;
  readonly outcome: Extract<Outcome, 'malformed' | 'no_identifier'> | undefined;
  /** The reason of the outcome. For a row without an outcome, the reason why its contact counts as opted out. */
  readonly reason: string | undefined;
  readonly cells: readonly string[];
  readonly identity: Identity;
  readonly optedOut: boolean;
  readonly optedOutOfCalls: boolean;
  /** Identity keys. A row without keys is not looked up. */
  readonly keys: readonly string[];
}

const unread = {
  outcome: 'malformed',
  identity: {},
  optedOut: false,
  optedOutOfCalls: false,
  keys: [],
} as const;
const noIdentifier = 'no email of one person, profile URL or service id, and no name together with a company';

/** Makes a function of a record's cells, its number from 1, and why it cannot be read (undefined: it can). */
export function createRowReader(
  columns: ColumnMap,
): (cells: readonly string[], rowNumber: number, fault: string | undefined) => StagedRow {
  const idColumn = columns.fields.contact_id[0] ?? -1;
  const readIdentity = createIdentityReader(columns);
  const optOutOfProcessing = optOutCheck(columns, 'processing');
  const optOutOfCalls = optOutCheck(columns, 'calls');
  return (cells, rowNumber, fault) => {
    if (fault !== undefined)
      return { ...unread, rowNumber, contactId: `row:${rowNumber}`, reason: fault, cells };
    const identity = readIdentity(cells);
    const stated = identityKeys(identity);
    // A shared mailbox alone is not looked up: it would be paid for, but the identity rule links no contact by it.
    const keys = stated.every(isNamelessMailboxKey) ? [] : stated;
    const usable = keys.length > 0;
    const optOut = optOutOfProcessing(cells);
    return {
      rowNumber,
      contactId: contactIdOf(columns.source, cells[idColumn] ?? '', keys, rowNumber),
      outcome: usable ? undefined : 'no_identifier',
      reason: usable
        ? optOut && `the export marks this contact as opted out in the column "${optOut}"`
        : noIdentifier,
      cells,
      identity,
      optedOut: optOut !== undefined,
      optedOutOfCalls: optOutOfCalls(cells) !== undefined,
      keys,
    };
  };
}

/** Makes a function that returns the first column of a record that does not clearly allow the contact. */
function optOutCheck(
  { optOuts }: ColumnMap,
  scope: OptOutScope,
): (cells: readonly string[]) => string | undefined {
  const columns = optOuts.filter((column) => column.scope === scope);
  return (cells) => columns.find(({ read }) => read(cells) !== 'not opted out')?.name;
}

/** Makes a reader of identities that reads only fields with a column. */
function createIdentityReader({ fields }: ColumnMap): (cells: readonly string[]) => Identity {
  const readers = (
    [
      ['personId', fields.person_id, parsePersonId],
      ['hashedEmail', fields.hashed_email, parseHashedEmail],
      ['profileUrl', fields.profile_url, parseProfileUrl],
      ['firstName', fields.first_name, parseName],
      ['lastName', fields.last_name, parseName],
      ['name', fields.name, parseFullName],
      ['organizationName', fields.organization_name, parseOrganizationName],
      ['domain', fields.domain, parseDomain],
    ] satisfies [Exclude<keyof Identity, 'otherEmails'>, readonly number[], CellParser][]
  )
    .map(([field, columns, parse]) => ({ field, columns, parse }))
    .filter(({ columns }) => columns.length > 0);
  return (cells) => {
    const identity: { -readonly [Key in keyof Identity]: Identity[Key] } = {};
    const addresses = readEmails(cells, fields.email);
    if (addresses.length > 0) identity.email = addresses[0]!;
    if (addresses.length > 1) identity.otherEmails = addresses.slice(1);
    for (const { field, columns, parse } of readers) {
      const value = first(cells, columns, parse);
      if (value !== undefined) identity[field] = value;
    }
    return identity;
  };
}

type CellParser = (cell: string) => string | undefined;

/** Returns the first value that can be read in these columns. */
function first(cells: readonly string[], columns: readonly number[], parse: CellParser): string | undefined {
  for (const column of columns) {
    const cell = cells[column];
    if (cell === undefined || cell === '') continue;
    const value = parse(cell);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Returns each e-mail once: work e-mails first, then free mail, then shared mailboxes, by column. */
function readEmails(cells: readonly string[], columns: readonly number[]): string[] {
  const found: string[] = [];
  for (const column of columns) {
    const cell = cells[column];
    if (cell === undefined || cell === '') continue;
    for (const address of parseEmails(cell)) if (!found.includes(address)) found.push(address);
  }
  return found.length < 2 ? found : found.sort((left, right) => orderOfEmail(left) - orderOfEmail(right));
}

/** 0 for a work e-mail, 1 for free mail, 2 for a shared mailbox. */
function orderOfEmail(address: string): number {
  if (isSharedMailbox(address)) return 2;
  return isFreeMailDomain(emailDomain(address)) ? 1 : 0;
}

/** Returns a person id of the service. Such ids are opaque, have no spaces and a maximum length. */
function parsePersonId(cell: string): string | undefined {
  const id = displayForm(cell);
  return /^\S+$/.test(id) && id.length <= maxPersonIdLength && !meansNoValue(id) ? id : undefined;
}
