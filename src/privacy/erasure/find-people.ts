import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { RowKey } from '../../keys/contact-key.ts';
import { unnestRows } from '../../keys/unnest-keys.ts';
import type { Tables } from '../../db/schema.ts';
import { isOverruledMatch } from '../../people/decisions/contact-decisions.ts';
import type { NameCells } from '../../domain/identity/names/name-agreement.ts';
import { identityKeys } from '../../domain/identity/identity-keys.ts';

export interface PersonKey {
  readonly service: string;
  readonly personKey: string;
}

export interface FoundPerson extends PersonKey {
  readonly personId: string | null;
  readonly confirmed: readonly string[];
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * Finds the people in the log with one of these keys, and the people who were accepted for one of these rows, under all
 * keys that the service has given them.
 */
export async function findPeople(
  database: Kysely<Tables>,
  keys: readonly string[],
  rows: readonly RowKey[],
): Promise<FoundPerson[]> {
  // Not `or`, which reads the whole log. `offset 0` keeps PostgreSQL from reading a whole index for a join.
  return readPeople(
    database,
    sql`o.observation_id in (
      select s.observation_id from observations s where s.identity_keys && ${keys}::text[]
      union all
      select s.observation_id
      from ${unnestRows(rows)} as r (run_id, row_number)
      cross join lateral (
        select * from contact_matches m where m.run_id = r.run_id and m.row_number = r.row_number offset 0
      ) m
      cross join lateral (
        select * from observations o
        where o.service = m.service and o.person_key = any(coalesce(m.person_keys, array[m.person_key]))
        offset 0
      ) s
      where not ${isOverruledMatch})`,
  );
}

/** Reads people from the log. @param theirs condition on an observation `o` */
export async function readPeople(
  database: Kysely<Tables>,
  theirs: RawBuilder<unknown>,
): Promise<FoundPerson[]> {
  const { rows } = await sql<FoundPerson>`
    select distinct o.service, o.person_key as "personKey", o.person_id as "personId", o.identity_keys as confirmed,
      o.facts #>> '{email,email}' as email, o.facts #>> '{first_name,first_name}' as "firstName",
      o.facts #>> '{first_name,last_name}' as "lastName"
    from observations o where ${theirs}
  `.execute(database);
  return rows;
}

/** The name of a person as the cells of a row. */
export function nameOf({ firstName, lastName }: FoundPerson): NameCells {
  return { first_name: firstName, last_name: lastName, name: null };
}

export function distinctPeople(found: readonly FoundPerson[]): readonly PersonKey[] {
  const people = found.map(({ service, personKey }) => ({ service, personKey }));
  return [...new Map(people.map((each) => [JSON.stringify(each), each])).values()];
}

/** Query of `service` and `person_key`. */
export function peopleOf(people: readonly PersonKey[]): RawBuilder<unknown> {
  return sql`
    select * from unnest(${people.map(({ service }) => service)}::text[],
      ${people.map(({ personKey }) => personKey)}::text[])`;
}

/** Condition on a table with the columns `service` and `person_key`: an entry is about one of these people. */
export function isOfPeople(people: readonly PersonKey[]): RawBuilder<boolean> {
  return sql`(service, person_key) in (${peopleOf(people)})`;
}

/** Identity keys of a person; a shared mailbox only together with the name. */
export function keysOf(person: FoundPerson): string[] {
  return [
    ...person.confirmed,
    ...identityKeys({
      ...(person.email !== null && { email: person.email }),
      ...(person.firstName !== null && { firstName: person.firstName }),
      ...(person.lastName !== null && { lastName: person.lastName }),
    }),
  ];
}

/** People without an id of these answers whom no contact has: nothing shows that they are somebody else. */
export async function findStrangers(
  database: Kysely<Tables>,
  attemptIds: readonly string[],
): Promise<readonly PersonKey[]> {
  const { rows } = await sql<{ service: string; personKey: string }>`
    select distinct service, person_key as "personKey" from observations o
    where run_id in (select run_id from attempts where attempt_id = any(${attemptIds}::text[]))
      and attempt_id = any(${attemptIds}::text[])
      and starts_with(person_key, 'seen:')
      and not exists (select from contacts c where c.service = o.service and c.person_key = o.person_key)
  `.execute(database);
  return rows;
}
