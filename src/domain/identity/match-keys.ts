import { emailHashes } from './values/email-address.ts';
import type { Identity } from './identity.ts';
import { oncePerObject } from '../compute-once.ts';
import { readyIdentity, readyPerson } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';
import { wordsOfEmployers } from './names/organization-agreement.ts';
import { isInitial, type ComparedName } from './names/name-agreement.ts';
import type { Person } from './person.ts';
import { contactFields } from '../warehouse/contact-fields.ts';

/**
 * Keys that find the rows that a person could fit. A row that fits a person, or is a namesake by `weigh`, has a key in
 * common with the person. The reverse need not be true.
 *
 * @returns keys of a row
 */
export const matchKeysOfIdentity = oncePerObject((identity: Identity): readonly number[] => {
  const { keys, name, employers } = readyIdentity(identity);
  return matchKeysOf([...keys, ...(name ? atEmployers(nameKeys(name), wordsOfEmployers(employers)) : [])]);
});

/**
 * Keys of a person, identifiers first. Every row that the person could fit has one of them in `matchKeysOfIdentity`.
 */
export function matchKeysOfPerson(person: Person): number[] {
  const { name, employers } = readyPerson(person);
  const ofName = name ? [...nameKeys(name), ...swappedNameKeys(name)] : [];
  return [
    ...new Set([
      ...identifyingKeysOfPerson(person),
      ...matchKeysOf(atEmployers([...new Set(ofName)], wordsOfEmployers(employers))),
    ]),
  ];
}

/** Keys of a person's identifiers. Every row that an identifier matches to the person has one of them. */
export function identifyingKeysOfPerson(person: Person): number[] {
  const { personId, profileUrl, emails } = readyPerson(person);
  return matchKeysWithHashes(
    identityKeys({
      ...(personId !== undefined && { personId }),
      ...(profileUrl !== undefined && { profileUrl }),
      otherEmails: [...emails],
    }),
  );
}

/** Keys of rows with these identity keys, and of rows with the hash of an e-mail in them. */
export function matchKeysWithHashes(keys: readonly string[]): number[] {
  const hashes = keys
    .filter((key) => key.startsWith('email:') && !key.includes('|'))
    .flatMap((key) => emailHashes(key.slice('email:'.length)).map((hash) => `hash:${hash}`));
  return matchKeysOf([...keys, ...hashes]);
}

/**
 * Names fit too many people alone: among a million, hundreds share initial and last name. So keys of names include the
 * employer.
 */
function atEmployers(names: readonly string[], employers: ReadonlySet<string>): string[] {
  return [...employers].flatMap((employer) => names.map((name) => `${name} at ${employer}`));
}

const withoutCase = /\p{Lo}/u;

/**
 * Keys of a name: the initials of the first name and of each word of the last name, in alphabetical order, so that
 * swapped names share a key. For scripts without initials, also the whole name in both orders.
 */
function nameKeys({ first, last, all }: ComparedName): string[] {
  const isWithoutCase = all.some((word) => withoutCase.test(word));
  if (last.length === 0) return isWithoutCase ? all.map((word) => `name ${word}`) : [];
  const words = last.length === 1 ? last : [...last, last.join('')];
  const initials = words.flatMap((word) => (isInitial(word) ? [] : initialsOf(first[0]!, word)));
  const whole = isWithoutCase
    ? [`name ${[...first, ...last].join('')}`, `name ${[...last, ...first].join('')}`]
    : [];
  return [...new Set([...initials, ...whole])];
}

/** The key of rows that state the name in the swapped order and split it elsewhere: `Rossi Anna` `Maria`. */
function swappedNameKeys({ first, last, all }: ComparedName): string[] {
  return last.length === 0 || all.some(isInitial) ? [] : [initialsOf(last[0]!, first.at(-1)!)];
}

function initialsOf(...words: readonly [string, string]): string {
  return `initials ${words
    .map((word) => word[0]!)
    .toSorted()
    .join('')}`;
}

/** The key of people without an id who were assigned to a contact. Only this contact finds them. */
export function ownerKey(source: string, contactId: string): number {
  return fnv1a(`owner ${source} ${contactId}`);
}

/** The hashes of keys, each once. The hash of an address is its own key: SQL makes it too (`addressesOfHash`). */
export function matchKeysOf(keys: readonly string[]): number[] {
  const hashes = keys.map((key) =>
    key.startsWith('hash:') ? Number.parseInt(key.slice(5, 13), 16) | 0 : fnv1a(key),
  );
  return [...new Set(hashes)];
}

/** FNV-1a with 32 bits, as a signed integer. Collisions do no harm, because found rows are compared afterwards. */
function fnv1a(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1)
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return hash | 0;
}

/**
 * All keys that may be on the suppression list for a person: the id, the profile, every e-mail, and the domain of the
 * employer (`domain:acme.example`).
 */
export function keysOfPerson(person: Person): string[] {
  const { personId, profileUrl, emails } = readyPerson(person);
  const { organization_domain: domain } = contactFields(person);
  const keys = identityKeys({
    ...(personId !== undefined && { personId }),
    ...(profileUrl !== undefined && { profileUrl }),
    otherEmails: [...emails],
    ...(person.first_name && { firstName: person.first_name }),
    ...(person.last_name && { lastName: person.last_name }),
    ...(person.name && { name: person.name }),
  }).map((key) => key.replaceAll('\0', '').toWellFormed());
  return domain === null ? keys : [...keys, `domain:${domain}`];
}
