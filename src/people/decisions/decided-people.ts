import type { Kysely } from 'kysely';
import { matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import type { Verdicts } from '../../domain/identity/verdicts.ts';
import type { Tables } from '../../db/schema.ts';
import type { ByMatchKey } from '../known/by-match-key.ts';
import { identifyingKeys, readKnownPeople, type KnownPerson } from '../known/known-people.ts';

/**
 * Reads the people whom decisions are about, and people who share an identifier with them: a decision follows a person
 * to another id.
 */
export async function readDecidedPeople(
  database: Kysely<Tables>,
  service: string,
  decided: readonly Verdicts[],
): Promise<readonly KnownPerson[]> {
  const personKeys = [...new Set(decided.flatMap((verdicts) => [...verdicts.keys()]))];
  if (personKeys.length === 0) return [];
  const people = await readKnownPeople(database, service, { matchKeys: [], personKeys });
  return readKnownPeople(database, service, {
    matchKeys: [...new Set(people.flatMap(identifyingKeys))],
    personKeys,
  });
}

/** People whom decisions about a contact could concern: those with the ids, and records of them under other ids. */
export function recordsOfDecided(
  people: ByMatchKey<KnownPerson>,
  verdicts: Verdicts,
): readonly KnownPerson[] {
  if (verdicts.size === 0) return [];
  const decided = people
    .sharing(matchKeysOfIdentityKeys([...verdicts.keys()]))
    .filter(({ personKey }) => verdicts.has(personKey));
  return people.sharing(decided.flatMap(identifyingKeys));
}
