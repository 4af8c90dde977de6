import { sql, type Kysely } from 'kysely';
import { areTwoPeople, readyPerson } from '../../domain/identity/identity-evidence.ts';
import type { Person } from '../../domain/identity/person.ts';
import { personOfFacts } from '../../people/known/known-people.ts';
import { keyOfId } from '../../people/log/observation.ts';
import type { Tables } from '../../db/schema.ts';

/** The people of an answer, and which of their ids the log did not have before. */
interface PeopleWithOwnIds {
  readonly matches: readonly (Person | null)[];
  readonly newKeys: ReadonlySet<string>;
}

/**
 * Removes ids that belong to somebody else: the log, or the same answer, has the id for a person of another name. The
 * person then counts as a person without an id.
 */
export async function withOwnIds(
  database: Kysely<Tables>,
  service: string,
  matches: readonly (Person | null)[],
): Promise<PeopleWithOwnIds> {
  const keys = new Set(matches.flatMap((person) => keyOf(person) ?? []));
  const known = await readByKey(database, service, [...keys]);
  const own = matches.map((person, index) => {
    const key = keyOf(person);
    if (person === null || key === undefined) return person;
    const before = known.get(key);
    const others = before
      ? [before]
      : matches.filter((other, place) => place !== index && keyOf(other) === key);
    return others.some((other) => other && areTwoPeople(readyPerson(person), readyPerson(other)))
      ? { ...person, id: null }
      : person;
  });
  return { matches: own, newKeys: new Set([...keys].filter((key) => !known.has(key))) };
}

function keyOf(person: Person | null): string | undefined {
  const id = person === null ? undefined : readyPerson(person).personId;
  return id === undefined ? undefined : keyOfId(id);
}

/**
 * Reads what an answer with a name last said of people, undone runs included: an undo can be reverted. Phones that a
 * run reuses have no name, so nothing would contradict them.
 */
async function readByKey(
  database: Kysely<Tables>,
  service: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Person>> {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<{ key: string; person: Person }>`
    select k.key, o.person
    from unnest(${keys}::text[]) as k (key)
    cross join lateral (
      select ${personOfFacts} as person
      from observations o
      where o.service = ${service} and o.person_key = k.key and o.kind in ('answer', 'reused')
      order by o.facts ?| '{first_name,name}' desc, o.observation_id desc
      limit 1
    ) o
  `.execute(database);
  return new Map(rows.map(({ key, person }) => [key, person]));
}
