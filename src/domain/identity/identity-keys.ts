import { hash } from 'node:crypto';
import { isRoleAddress } from './values/email-address.ts';
import type { Identity } from './identity.ts';
import { comparisonForm, displayForm, organizationForm } from './values/normalise.ts';

/**
 * Returns the keys that decide about duplicates, freshness and claims: two rows that share a key are the same person.
 * The first key names a contact without a record id.
 *
 * - `email:`, `profile:`, `person:`, `hash:` for each identifier of the row.
 * - An address that several people read (`info@`) counts only together with the name of the row: two colleagues who
 *   share it stay two people, and the same colleague twice is one.
 * - Only without any of these: `name:<name>|<organization or domain>`. Two namesakes at one employer share this key,
 *   because the service would get the same question twice and give the same answer.
 *
 * A plain address gets no `hash:` key for rows that have only a hash: that would triple the keys in every table. The
 * plan finds the addresses of such rows in the file and in the log (`addressesOfHash`).
 *
 * The key of an id has the id as tables store it, so that SQL can make it. A key has at most about 600 characters.
 *
 * @returns empty if the row does not identify a person (outcome `no_identifier`): for a name alone the service may bill
 *   a call that finds no person or a stranger
 */
export function identityKeys(identity: Identity): string[] {
  const keys: string[] = [];
  if (identity.email !== undefined) keys.push(emailKey(identity.email, identity));
  for (const email of identity.otherEmails ?? []) keys.push(emailKey(email, identity));
  if (identity.profileUrl !== undefined) keys.push(`profile:${identity.profileUrl}`);
  if (identity.personId !== undefined) keys.push(`person:${boundedId(identity.personId)}`);
  if (identity.hashedEmail !== undefined) keys.push(`hash:${identity.hashedEmail}`);
  if (keys.length > 0) return keys;
  const name = comparedName(identity);
  const { organizationName, domain } = identity;
  const employer = organizationName === undefined ? domain : bounded(organizationForm(organizationName));
  return name === undefined || employer === undefined ? [] : [`name:${name}|${employer}`];
}

function emailKey(email: string, identity: Identity): string {
  if (!isRoleAddress(email)) return `email:${email}`;
  const name = comparedName(identity);
  return name === undefined ? `email:${email}` : `email:${email}|${name}`;
}

/** Whether a key is a shared mailbox without a name. Such a key identifies no person. */
export function isSharedKey(key: string): boolean {
  return key.startsWith('email:') && !key.includes('|') && isRoleAddress(key.slice('email:'.length));
}

/** First and last name, or the full name. A first name alone identifies no person. */
function comparedName(identity: Identity): string | undefined {
  const { firstName, lastName, name } = identity;
  const whole = firstName !== undefined && lastName !== undefined ? `${firstName} ${lastName}` : name;
  return whole === undefined ? undefined : bounded(comparisonForm(whole));
}

/** Keeps keys below 2,704 bytes, the limit of an index entry in PostgreSQL, even for long text in a wrong column. */
const longestPart = 150;

/** Returns a short text unchanged, and shortens a long text to its beginning and a hash. */
export function bounded(text: string): string {
  if (text.length <= longestPart) return text;
  // The end can be half a surrogate pair, which PostgreSQL refuses in JSON.
  return `${text.slice(0, longestPart).toWellFormed()}#${hash('sha256', text).slice(0, 16)}`;
}

/** Ids of the service are opaque and may be long. Each character has at most three bytes. */
export const longestId = 500;

/** An id of a person that fits into any index: a longer one is shortened to its beginning and a hash. */
export function boundedId(id: string): string {
  return id.length <= longestId ? id : bounded(displayForm(id));
}
