import type { Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { isStub, readyPerson } from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfPerson } from '../../domain/identity/match-keys.ts';
import type { Person } from '../../domain/identity/person.ts';
import { readKnownPeople, type KnownPerson, type PeopleToRead } from '../../people/known/known-people.ts';
import { KnownRecords, withMergedRecords } from '../../people/known/merged-keys.ts';
import { keyOfId, keyOfStranger } from '../../people/log/observation.ts';

/** The people of an answer, in the form of people who are known. */
export function arrivedPeople(matches: readonly (Person | null)[]): KnownPerson[] {
  const askedAt = new Date();
  return matches.flatMap((person): KnownPerson[] => {
    if (person === null || isStub(person)) return [];
    const compared = readyPerson(person);
    const personKey = compared.personId === undefined ? keyOfStranger(person) : keyOfId(compared.personId);
    const matchKeys = matchKeysOfPerson(person);
    return [{ personKey, person, compared, matchKeys, askedAt, mergedKeys: [], givenTo: new Map() }];
  });
}

/** `keysOf` of `KnownRecords`, of a person of an answer; null for other people. */
export type KeysOfArrived = (personKey: string) => readonly string[] | null;

/**
 * Reads the keys of the people of an answer, as they will be when the answer is recorded. The people of one answer stay
 * apart: the service itself distinguishes them.
 *
 * @param known people who could be records of them
 */
export async function readKeysOfArrived(
  database: Kysely<Tables>,
  service: string,
  arrived: readonly KnownPerson[],
  known: readonly KnownPerson[],
): Promise<KeysOfArrived> {
  const before = new Map(known.map((person) => [person.personKey, person]));
  const present = new Map(
    arrived.map((person) => [person.personKey, withOlderFields(person, before.get(person.personKey))]),
  );
  const read = (keys: PeopleToRead) => readKnownPeople(database, service, keys);
  const all = [...new Map([...before, ...present]).values()];
  const records = new KnownRecords(await withMergedRecords(read, [...present.values()], all));
  return (personKey) => {
    const person = present.get(personKey);
    return person === undefined ? null : records.keysOf(person);
  };
}

/** The person as the projection will have it: an empty field keeps its value. */
function withOlderFields(person: KnownPerson, before: KnownPerson | undefined): KnownPerson {
  if (before === undefined) return person;
  const stated = Object.entries(person.person).filter(([, value]) => value !== null && value !== undefined);
  const current: Person = { ...before.person, ...Object.fromEntries(stated) };
  return { ...person, person: current, compared: readyPerson(current), mergedKeys: before.mergedKeys };
}
