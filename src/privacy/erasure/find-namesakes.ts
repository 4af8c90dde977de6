import { sql } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import { compareNameCells, type NameCells } from '../../domain/identity/names/name-agreement.ts';
import { unnestRows } from '../../keys/unnest-keys.ts';
import { nameOf, peopleOf, readPeople } from './find-people.ts';
import { findPerson, type PersonTraces } from './person-traces.ts';

/**
 * Finds people with an id whom an erasure of a person leaves, although the answers to the same calls give them the
 * person's name. Such a person can be the same human: a service can state another id and another address later.
 *
 * @param keys identity keys of one person
 * @returns `person:` keys
 */
export async function findNamesakes({ database }: Warehouse, keys: readonly string[]): Promise<string[]> {
  const traces = await findPerson(database, keys);
  if (traces.attemptIds.length === 0) return [];
  const isTheirs = sql<boolean>`(o.service, o.person_key) in (${peopleOf(traces.people)})`;
  const names = [
    ...(await readPeople(database, isTheirs)).map(nameOf),
    ...(await namesOfRows({ database }, traces)),
  ];
  const answered = await readPeople(
    database,
    sql`o.run_id in (select run_id from attempts where attempt_id = any(${traces.attemptIds}::text[]))
      and o.attempt_id = any(${traces.attemptIds}::text[]) and o.person_id is not null and not ${isTheirs}`,
  );
  const alike = answered.filter((person) =>
    names.some((name) => compareNameCells(name, nameOf(person)) === 'agree'),
  );
  return [...new Set(alike.map(({ personId }) => `person:${personId}`))].toSorted();
}

async function namesOfRows(
  { database }: Pick<Warehouse, 'database'>,
  { rows }: Pick<PersonTraces, 'rows'>,
): Promise<NameCells[]> {
  const found = await sql<NameCells>`
    select distinct r.first_name, r.last_name, r.name
    from ${unnestRows(rows)} as t (run_id, row_number)
    join run_rows r using (run_id, row_number)
  `.execute(database);
  return found.rows;
}
