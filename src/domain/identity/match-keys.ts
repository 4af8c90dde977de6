import { isRoleAddress } from './email-address.ts';
import type { Identity } from './identity.ts';
import { readyIdentity, readyPerson, type EmailHashes } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';
import { isInitial, lettersOfLocalPart, localPartsOf, type ComparedName } from './name-agreement.ts';
import type { Person } from './person.ts';

/**
 * Keys by which the rows that a person could fit are found: a row that `weigh` finds to fit a person, or to be a
 * namesake of theirs, shares a key with that person. Rows that share one need not fit.
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
 * The keys of a person, of which `matchKeysOfIdentity` shares one with every row that the person could fit. The first
 * are those of identifiers.
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

/** The keys of a person that an identifier gives: every row that an identifier shows to be the person shares one. */
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

/** The keys of a row and of the person whom weak evidence gives it. */
export function matchKeysOfMatch(identity: Identity, person: Person, hashesOf: EmailHashes): number[] {
  return [...new Set([...matchKeysOfIdentity(identity), ...matchKeysOfPerson(person, hashesOf)])];
}

/** The keys of rows that share an identity key (`identityKeys`), or hold the hash of an address among these. */
export function matchKeysOfIdentityKeys(keys: readonly string[], hashesOf: EmailHashes = () => []): number[] {
  const hashes = keys
    .filter((key) => key.startsWith('email:') && !key.includes('|'))
    .flatMap((key) => hashesOf(key.slice('email:'.length)).map((hash) => `hash:${hash}`));
  return hashed([...keys, ...hashes]);
}

/**
 * The first letter of the first name with each word of the last, and for a swapped order all words, since
 * `compareNames` takes a swapped name only as a whole: the first letter of the last name with the first name is shared
 * by every Anna with an N. In scripts without initials the whole in both orders.
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
