import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { contactOf } from '../../keys/contact-of.ts';
import { identifiesAlone } from '../../keys/identifying-key.ts';
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
  const named = contacts.flatMap(({ compared }, place) => compared.keys.map((key) => ({ place, key })));
  if (named.length === 0) return new Map();
  const { rows } = await sql<{ readonly place: number; readonly person_keys: readonly string[] }>`
    select distinct named.place, same.person_keys
    from unnest(${named.map(({ place }) => place)}::integer[], ${named.map(({ key }) => key)}::text[])
      as named (place, key)
    cross join lateral (${peopleOfContactsWith(service, sql`named.key`)}) same
    where ${identifiesAlone(sql`named.key`)}
  `.execute(database);
  const answered = contacts.map((contact, index) => {
    const same = rows.filter(({ place }) => place === index);
    return [contact, same.flatMap((row) => row.person_keys)] as const;
  });
  return new Map(answered.filter(([, people]) => people.length > 0));
}
