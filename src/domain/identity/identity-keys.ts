import { isRoleAddress } from './email-address.ts';
import type { Identity } from './identity.ts';
import { comparisonForm, organizationForm } from './normalise.ts';

/**
 * The keys by which duplicates, freshness and claims are decided: two rows that share one are the same person. The
 * first key is the one that a contact without an id of its own is named by.
 *
 * - `email:`, `profile:`, `person:`, `hash:` for each identifier of the row.
 * - An address that several people read (`info@`) counts only together with the name of the row: colleagues who share
 *   it stay two people, and the same colleague twice is still one.
 * - Only where a row has none of these: `name:<name>|<organization or domain>`. Two namesakes at one employer share it;
 **X** be asked the same question twice, so that the second answer could only be the first again.
 *
 * A plain address is not hashed for the sake of rows that hold only a hash: that would make three keys of one in every
 * table, for a case in which the row with both columns already joins them.
 *
 * A key is at most some 600 characters long, whatever the row says.
 *
 * @returns an empty list where the row does not say enough to ask for a person (outcome `no_identifier`): with a name
 *   alone the service answers, may bill, and finds no person or anybody
 */
export function identityKeys(identity: Identity): string[] {
  const keys: string[] = [];
  if (identity.email !== undefined) keys.push(emailKey(identity.email, identity));
  if (identity.otherEmails !== undefined) {
    for (const email of identity.otherEmails) keys.push(emailKey(email, identity));
  }
  if (identity.profileUrl !== undefined) keys.push(`profile:${identity.profileUrl}`);
  if (identity.personId !== undefined) keys.push(`person:${bounded(identity.personId)}`);
  if (identity.hashedEmail !== undefined) keys.push(`hash:${identity.hashedEmail}`);
  if (keys.length > 0) return keys;
  const weak = weakKey(identity);
  return weak === undefined ? [] : [weak];
}

function emailKey(email: string, identity: Identity): string {
  if (!isRoleAddress(email)) return `email:${email}`;
  const name = comparedName(identity);
  return name === undefined ? `email:${email}` : `email:${email}|${name}`;
}

function weakKey(identity: Identity): string | undefined {
  const name = comparedName(identity);
  if (name === undefined) return undefined;
  if (identity.organizationName !== undefined)
    return `name:${name}|${bounded(organizationForm(identity.organizationName))}`;
  return identity.domain === undefined ? undefined : `name:${name}|${identity.domain}`;
}

/** First and last name, or the whole name; a first name alone names no person. */
function comparedName(identity: Identity): string | undefined {
  if (identity.firstName !== undefined && identity.lastName !== undefined) {
    return bounded(comparisonForm(`${identity.firstName} ${identity.lastName}`));
  }
  return identity.name === undefined ? undefined : bounded(comparisonForm(identity.name));
}

/** An index entry of PostgreSQL holds 2,704 bytes. No name is so long; a text in the wrong column is. */
const longestPart = 150;

/** A text as it is, or its beginning and a hash of all of it. */
export function bounded(text: string): string {
  return text.length <= longestPart ? text : `${text.slice(0, longestPart)}#${fnv1a(text)}`;
}

/** FNV-1a with 64 bits, in hexadecimal: the domain has no cryptography, and nothing secret is hashed here. */
function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index += 1)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
