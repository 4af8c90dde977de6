import { isRoleAddress } from './email-address.ts';
import type { Identity } from './identity.ts';
import { readyIdentity, readyPerson, type EmailHashes } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';
import { isInitial, lettersOfLocalPart, localPartsOf, type ComparedName } from './name-agreement.ts';
import type { Person } from './person.ts';

/**
 * Keys that find the rows that a person could fit. A row that fits a person or is a namesake, by `weigh`, shares a key
 * with the person. A row that shares a key need not fit.
 *
 * @returns keys of a row
 */
export function matchKeysOfIdentity(identity: Identity): number[] {
  const { name } = readyIdentity(identity);
  const addresses = [identity.email, ...(identity.otherEmails ?? [])];
  const isNamed = name !== undefined && name.all.length > 1;
  return hashed([
    ...identityKeys(identity),
    ...(name ? nameKeys(name) : []),
    ...addresses.flatMap((email) =>
      email === undefined || isNamed || isRoleAddress(email)
        ? []
        : (lettersOfLocalPart(email.slice(0, email.lastIndexOf('@'))) ?? []),
    ),
  ]);
}

/**
 * The keys of a person, keys of identifiers first. Every row that the person could fit has one of them in
 * `matchKeysOfIdentity`.
 */
export function matchKeysOfPerson(person: Person, hashesOf: EmailHashes): number[] {
  const { name } = readyPerson(person);
  return [
    ...new Set([
      ...identifyingKeysOfPerson(person, hashesOf),
      ...hashed(name ? [...nameKeys(name), ...localPartsOf(name)] : []),
    ]),
  ];
}

/** The keys of a person's identifiers. Every row that an identifier shows to be the person shares one. */
export function identifyingKeysOfPerson(person: Person, hashesOf: EmailHashes): number[] {
  const { personId, profileUrl, emails } = readyPerson(person);
  return matchKeysOfIdentityKeys(
    identityKeys({
      ...(personId !== undefined && { personId }),
      ...(profileUrl !== undefined && { profileUrl }),
      otherEmails: [...emails],
    }),
    hashesOf,
  );
}

/** The keys of a row and of its person by weak evidence. */
export function matchKeysOfMatch(identity: Identity, person: Person, hashesOf: EmailHashes): number[] {
  return [...new Set([...matchKeysOfIdentity(identity), ...matchKeysOfPerson(person, hashesOf)])];
}

/** The keys of rows that share an identity key (`identityKeys`), or have the hash of an address in these keys. */
export function matchKeysOfIdentityKeys(keys: readonly string[], hashesOf: EmailHashes = () => []): number[] {
  const hashes = keys
    .filter((key) => key.startsWith('email:') && !key.includes('|'))
    .flatMap((key) => hashesOf(key.slice('email:'.length)).map((hash) => `hash:${hash}`));
  return hashed([...keys, ...hashes]);
}

/**
 * Keys of a name: the first letter of the first name with each word of the last name. For a swapped order, all words
 * sorted: an initial of the last name would give every Anna with an N the same key. In scripts without initials, also
 * the whole name in both orders.
 */
function nameKeys({ first, last, all }: ComparedName): string[] {
  if (last.length === 0) return all.map((word) => `name ${word}`);
  return [
    ...[...last, last.join('')]
      .filter((word) => !isInitial(word))
      .map((word) => `name ${first[0]![0]} ${word}`),
    ...(all.some(isInitial) ? [] : [`names ${all.toSorted().join(' ')}`]),
    ...(/\p{Lo}/u.test(all.join(''))
      ? [`name ${[...first, ...last].join('')}`, `name ${[...last, ...first].join('')}`]
      : []),
  ];
}

/**
 * FNV-1a with 32 bits, as a signed integer: the keys only have to find rows, and a row that is found by chance does
 * not fit.
 */
function hashed(keys: readonly string[]): number[] {
  const hashes = keys.map((key) => {
    let hash = 0x811c9dc5;
    for (let index = 0; index < key.length; index += 1)
      hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
    return hash | 0;
  });
  return [...new Set(hashes)];
}
