import { parseDomain } from '../../../domain/identity/values/domain-name.ts';
import {
  emailDomain,
  isRoleAddress,
  parseEmails,
  parseHashedEmail,
} from '../../../domain/identity/values/email-address.ts';
import { isFreeMail } from '../../../domain/identity/values/free-mail.ts';
import { identityKeys, longestId } from '../../../domain/identity/identity-keys.ts';
import type { Identity } from '../../../domain/identity/identity.ts';
import { matchKeysOfIdentity } from '../../../domain/identity/match-keys.ts';
import {
  displayForm,
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../../domain/identity/values/normalise.ts';
import type { Outcome } from '../../../domain/runs/outcome.ts';
import { parseProfileUrl } from '../../../domain/identity/values/profile-url.ts';
import type { ColumnMap } from '../column-map.ts';
import { contactIdOf } from './contact-id.ts';
import type { OptOutScope } from '../opt-outs/opt-out.ts';
import { createOptOutReader } from '../opt-outs/read-opt-outs.ts';
import { isNoValue } from './no-value.ts';

/** A record of an export in the form in which it is staged. */
export interface StagedRow {
  readonly rowNumber: number;
  readonly contactId: string;
  readonly outcome: Extract<Outcome, 'malformed' | 'no_identifier'> | undefined;
  readonly reason: string | undefined;
  readonly cells: readonly string[];
  readonly identity: Identity;
  readonly optedOut: boolean;
  readonly optedOutOfCalls: boolean;
  readonly keys: readonly string[];
  readonly matchKeys: readonly number[];
}

const emptyIdentity: Identity = {};
const noIdentifier = 'no email, profile URL or service id, and no name together with a company';

/**
 * Reads records of one export.
 *
 * @returns a function from the cells of a record, its number from 1, and why it cannot be read (undefined: it can)
 */
export function createRowReader(
  columns: ColumnMap,
): (cells: readonly string[], rowNumber: number, fault: string | undefined) => StagedRow {
  const idColumn = columns.single.contact_id[0] ?? -1;
  const hasOptedOut = optOutCheck(columns, 'processing');
  const hasOptedOutOfCalls = optOutCheck(columns, 'calls');
  return (cells, rowNumber, fault) => {
    if (fault !== undefined) {
      const contactId = `row:${rowNumber}`;
      const nothing = {
        identity: emptyIdentity,
        optedOut: false,
        optedOutOfCalls: false,
        keys: [],
        matchKeys: [],
      };
      return { rowNumber, contactId, outcome: 'malformed', reason: fault, cells, ...nothing };
    }
    const identity = readIdentity(cells, columns);
    const keys = identityKeys(identity);
    const usable = keys.length > 0;
    return {
      rowNumber,
      contactId: contactIdOf(columns.source, cells[idColumn] ?? '', keys, rowNumber),
      outcome: usable ? undefined : 'no_identifier',
      reason: usable ? undefined : noIdentifier,
      cells,
      identity,
      optedOut: hasOptedOut(cells),
      optedOutOfCalls: hasOptedOutOfCalls(cells),
      keys,
      matchKeys: usable ? matchKeysOfIdentity(identity, keys) : [],
    };
  };
}

/** Whether a contact must be treated as opted out, by any of the columns: also by an answer that is not understood. */
function optOutCheck({ optOuts }: ColumnMap, scope: OptOutScope): (cells: readonly string[]) => boolean {
  const readers = optOuts.filter((column) => column.scope === scope).map(createOptOutReader);
  return (cells) => readers.some((read) => read(cells) !== 'not opted out');
}

/** How each field of an identity is read, except addresses. */
const fieldReaders = [
  ['personId', 'person_id', parsePersonId],
  ['hashedEmail', 'hashed_email', parseHashedEmail],
  ['profileUrl', 'profile_url', parseProfileUrl],
  ['firstName', 'first_name', parseName],
  ['lastName', 'last_name', parseName],
  ['name', 'name', parseFullName],
  ['organizationName', 'organization_name', parseOrganizationName],
  ['domain', 'domain', parseDomain],
] as const;

function readIdentity(cells: readonly string[], columns: ColumnMap): Identity {
  const { single, emails, lastNameFirst, secondSurnames } = columns;
  const identity: { -readonly [Key in keyof Identity]: Identity[Key] } = {};
  const [email, ...otherEmails] = readEmails(cells, emails);
  if (email !== undefined) identity.email = email;
  if (otherEmails.length > 0) identity.otherEmails = otherEmails;
  for (const [field, column, parse] of fieldReaders) {
    const value = first(cells, single[column], (cell, at) => parse(cell, lastNameFirst.has(at)));
    if (value !== undefined) identity[field] = value;
  }
  const second = first(cells, secondSurnames, parseName);
  if (second !== undefined && !` ${identity.lastName}`.endsWith(` ${second}`))
    identity.lastName += ` ${second}`;
  return identity;
}

/** The first readable value of these columns. */
function first(
  cells: readonly string[],
  columns: readonly number[],
  parse: (cell: string, column: number) => string | undefined,
): string | undefined {
  for (const column of columns) {
    const cell = cells[column];
    if (cell === undefined || cell === '') continue;
    const value = parse(cell, column);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * All addresses, each once: work addresses first, then free mail, then shared mailboxes; each in the order of the
 * columns.
 */
function readEmails(cells: readonly string[], columns: readonly number[]): string[] {
  const found: string[] = [];
  for (const column of columns) {
    const cell = cells[column];
    if (cell === undefined || cell === '') continue;
    for (const address of parseEmails(cell)) if (!found.includes(address)) found.push(address);
  }
  return found.length < 2 ? found : found.sort((left, right) => emailRank(left) - emailRank(right));
}

function emailRank(address: string): number {
  if (isRoleAddress(address)) return 2;
  return isFreeMail(emailDomain(address)) ? 1 : 0;
}

/** The service's ids are opaque, but without spaces, and keys have no longer ones. */
function parsePersonId(cell: string): string | undefined {
  const id = displayForm(cell);
  return /^\S+$/.test(id) && id.length <= longestId && !isNoValue(id) ? id : undefined;
}
