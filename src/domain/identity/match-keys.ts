import { emailHashes } from './values/email-address.ts';
import type { Identity } from './identity.ts';
import { memoizePerObject } from '../compute-once.ts';
import { toComparedIdentity, toComparedPerson } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';
import { wordsOfEmployers } from './names/organization-agreement.ts';
import { isInitial, type ComparedName } from './names/name-agreement.ts';
import type { Person } from './person.ts';
import { contactFields } from '../warehouse/contact-fields.ts';

/**
 * Returns the match keys of a row: numbers by which the database finds the people to compare with it. A row that fits a
 * person, or is a namesake, shares one with this person. A row and a person that share a key need not fit.
 */
export const matchKeysOfIdentity = memoizePerObject((identity: Identity): readonly number[] => {
  const { keys, name, employers } = toComparedIdentity(identity);
  return hashMatchKeys([...keys, ...(name ? atEmployers(nameKeys(name), wordsOfEmployers(employers)) : [])]);
});

/** Returns match keys of a person, identifiers first. Every row that could fit has one in `matchKeysOfIdentity`. */
export function matchKeysOfPerson(person: Person): number[] {
  const { name, employers } = toComparedPerson(person);
  const ofName = name ? [...nameKeys(name), ...swappedNameKeys(name)] : [];
  return [
    ...new Set([
      ...identifyingKeysOfPerson(person),
      ...hashMatchKeys(atEmployers([...new Set(ofName)], wordsOfEmployers(employers))),
    ]),
  ];
}

/** Returns match keys of a person's identifiers. Every row with one of these identifiers has one of these keys. */
export function identifyingKeysOfPerson(person: Person): number[] {
  const { personId, profileUrl, emails } = toComparedPerson(person);
  return matchKeysWithHashes(
    identityKeys({
      ...(personId !== undefined && { personId }),
      ...(profileUrl !== undefined && { profileUrl }),
      otherEmails: [...emails],
    }),
  );
}

/** Returns the match keys of rows with these identity keys or with only the hash of their e-mails. */
export function matchKeysWithHashes(keys: readonly string[]): number[] {
  const hashes = keys
    .filter((key) => key.startsWith('email:') && !key.includes('|'))
    .flatMap((key) => emailHashes(key.slice('email:'.length)).map((hash) => `hash:${hash}`));
  return hashMatchKeys([...keys, ...hashes]);
}

/** Keys of each name at each word of the employers: among a million people, hundreds share initial and last name. */
function atEmployers(names: readonly string[], employers: ReadonlySet<string>): string[] {
  return [...employers].flatMap((employer) => names.map((name) => `${name} at ${employer}`));
}

/** Letters of scripts without upper and lower case, such as Chinese, which also have no initials. */
const withoutCase = /\p{Lo}/u;

/**
 * Keys of a name: the initials of the first name and of each word of the last name, in alphabetical order, so that
 * swapped names share a key. In scripts without initials, the whole name in both orders is a key too.
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

/** Key of rows with first and last name swapped and split at another place: `Rossi Anna` `Maria`. */
function swappedNameKeys({ first, last, all }: ComparedName): string[] {
  return last.length === 0 || all.some(isInitial) ? [] : [initialsOf(last[0]!, first.at(-1)!)];
}

/** The first letters of two words in alphabetical order. */
function initialsOf(...words: readonly [string, string]): string {
  return `initials ${words
    .map((word) => word[0]!)
    .toSorted()
    .join('')}`;
}

/** The key of people without an id who were assigned to a contact. Only this contact can find them. */
export function contactOwnerKey(source: string, contactId: string): number {
  return fnv1a(`owner ${source} ${contactId}`);
}

/** Hashes identity keys. The hash of an e-mail is its own match key, as SQL computes it (`emailKeysOfHash`). */
export function hashMatchKeys(keys: readonly string[]): number[] {
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

/** All keys that the suppression list may have: id, profile, e-mails, and the employer's `domain:acme.example`. */
export function suppressionKeysOfPerson(person: Person): string[] {
  const { personId, profileUrl, emails } = toComparedPerson(person);
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
