import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { contactOf } from '../../keys/contact-of.ts';
import { identifyingOf } from '../../keys/identifying-key.ts';
import type { ContactState } from './contact-states.ts';

/**
 * Query of `person_keys`: the keys of people with an id whom contacts with an identity key have.
 *
 * @param identityKey expression
 */
export function peopleOfContactsWith(service: string, identityKey: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select coalesce(c.person_keys, array[c.person_key]) as person_keys
    from (select source, contact_id, run_id from contact_records where keys @> array[${identityKey}] offset 0) k
    cross join lateral (${contactOf(sql`k.source`, sql`k.contact_id`)}) c
    where c.run_id = k.run_id and c.service = ${service} and starts_with(c.person_key, 'person:')`;
}

/**
 * Finds contacts that share an identifier with another contact that has a person: a duplicate in the file, or the same
 * record in another CRM. No call asks for them, because rows that share an identifier are one person.
 *
 * @returns the keys of these people, by contact; without people who have no id
 */
export async function readAnsweredForSame(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<ReadonlyMap<ContactState, readonly string[]>> {
  // Each key once: thousands of contacts can have the same address.
  const keys = identifyingOf([...new Set(contacts.flatMap(({ compared }) => compared.keys))]);
  if (keys.length === 0) return new Map();
  const { rows } = await sql<{ readonly key: string; readonly people: readonly string[] }>`
    select key, array_agg(distinct person_key) as people
    from unnest(${keys}::text[]) as named (key)
    cross join lateral (${peopleOfContactsWith(service, sql`named.key`)}) same
    cross join unnest(same.person_keys) as person_key
    group by key
  `.execute(database);
  const people = new Map(rows.map((row) => [row.key, row.people]));
  const answered = contacts.map(
    (contact) => [contact, contact.compared.keys.flatMap((key) => people.get(key) ?? [])] as const,
  );
  return new Map(answered.filter(([, found]) => found.length > 0));
}
