import { isStub, readyPerson } from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfPerson } from '../../domain/identity/match-keys.ts';
import type { Person } from '../../domain/identity/person.ts';
import type { KnownPerson } from '../../people/known/known-people.ts';
import { keyOfId, keyOfStranger } from '../../people/log/observation.ts';

/** The people of an answer, in the form of people who are known. */
export function arrivedPeople(matches: readonly (Person | null)[]): KnownPerson[] {
  const askedAt = new Date();
  return matches.flatMap((person): KnownPerson[] => {
    if (person === null || isStub(person)) return [];
    const compared = readyPerson(person);
    const personKey = compared.personId === undefined ? keyOfStranger(person) : keyOfId(compared.personId);
    const matchKeys = matchKeysOfPerson(person);
    return [{ personKey, person, compared, matchKeys, askedAt, givenTo: new Map() }];
  });
}
