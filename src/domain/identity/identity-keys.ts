import { hash } from 'node:crypto';
import { isSharedMailbox } from './values/email-address.ts';
import type { Identity } from './identity.ts';
import { comparisonForm, displayForm, organizationComparisonForm } from './values/normalise.ts';

/**
 * Returns the keys that decide about duplicates, freshness and claims: two rows that share a key are the same person.
 * The first key identifies a contact without a record id. A key has at most about 600 characters.
 *
 * - `email:`, `profile:`, `person:`, `hash:` for each identifier of the row. A row with an e-mail gets no `hash:` key,
 *   because this would triple the keys in every table; the plan finds such rows by `emailKeysOfHash`.
 * - A shared mailbox (`info@`) counts only together with the name: two colleagues with one mailbox stay two people.
 * - `name:<name>|<organization or domain>` only without other keys. The service would answer two namesakes at one
 *   employer alike.
 *
 * @returns empty if the row does not identify a person (outcome `no_identifier`): for a name alone, the service may
 *   bill a call that finds nobody or a stranger
 */
export function identityKeys(identity: Identity): string[] {
  const keys: string[] = [];
  if (identity.email !== undefined) keys.push(emailKey(identity.email, identity));
  for (const email of identity.otherEmails ?? []) keys.push(emailKey(email, identity));
  if (identity.profileUrl !== undefined) keys.push(`profile:${identity.profileUrl}`);
  if (identity.personId !== undefined) keys.push(`person:${shortenPersonId(identity.personId)}`);
  if (identity.hashedEmail !== undefined) keys.push(`hash:${identity.hashedEmail}`);
  if (keys.length > 0) return keys;
  const name = comparedName(identity);
  const { organizationName, domain } = identity;
  const employer =
    organizationName === undefined ? domain : shortenWithHash(organizationComparisonForm(organizationName));
  return name === undefined || employer === undefined ? [] : [`name:${name}|${employer}`];
}

/** The key of an e-mail; the key of a shared mailbox contains the name of the row, if there is one. */
function emailKey(email: string, identity: Identity): string {
  if (!isSharedMailbox(email)) return `email:${email}`;
  const name = comparedName(identity);
  return name === undefined ? `email:${email}` : `email:${email}|${name}`;
}

/** True if a key is a shared mailbox without a name. Such a key identifies no person. */
export function isNamelessMailboxKey(key: string): boolean {
  return key.startsWith('email:') && !key.includes('|') && isSharedMailbox(key.slice('email:'.length));
}

/** First and last name, or the full name. A first name alone identifies no person. */
function comparedName(identity: Identity): string | undefined {
  const { firstName, lastName, name } = identity;
  const whole = firstName !== undefined && lastName !== undefined ? `${firstName} ${lastName}` : name;
  return whole === undefined ? undefined : shortenWithHash(comparisonForm(whole));
}

/** Maximum length of a part, so that keys fit into PostgreSQL's index entries of 2,704 bytes. */
const longestPart = 150;

/** Returns a short text unchanged, and shortens a long text to its beginning and a hash. */
export function shortenWithHash(text: string): string {
  if (text.length <= longestPart) return text;
  // The cut can split a surrogate pair, and PostgreSQL refuses half of a pair in JSON.
  return `${text.slice(0, longestPart).toWellFormed()}#${hash('sha256', text).slice(0, 16)}`;
}

/** Maximum length of a person's id at the service. Ids can have any form; each character has at most three bytes. */
export const maxPersonIdLength = 500;

/** Shortens an id of a person so that it fits into any index: a long id becomes its beginning and a hash. */
export function shortenPersonId(id: string): string {
  return id.length <= maxPersonIdLength ? id : shortenWithHash(displayForm(id));
}
