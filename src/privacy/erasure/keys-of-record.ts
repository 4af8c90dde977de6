import { sql, type Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { keysOf, peopleOf, readPeople } from './find-people.ts';
import { findPerson } from './person-traces.ts';

/**
 * Finds the identity keys of a CRM record: of its contact, and of the rows with its id.
 *
 * @returns undefined if the record has belonged to two people, whose rows share no key
 */
export async function keysOfRecord(
  database: Kysely<Tables>,
  record: ContactKey,
): Promise<string[] | undefined> {
  const contacts = await database
    .selectFrom('contacts')
    .select(['service', 'person_key as personKey'])
    .where('source', '=', record.source)
    .where('contact_id', '=', record.contactId)
    .execute();
  const known = await readPeople(database, sql`(o.service, o.person_key) in (${peopleOf(contacts)})`);
  const { rows } = await sql<{ keys: string[] }>`
    select r.keys
    from run_rows r
    join runs using (run_id)
    where r.contact_id = ${record.contactId}
      and runs.source = ${record.source}
      and r.keys <> '{}'
  `.execute(database);
  const named = [...known.map(keysOf), ...rows.map(({ keys }) => keys)].filter((keys) => keys.length > 0);
  if (named.length < 2) return named.flat();
  const { forms } = await findPerson(database, named[0]!);
  const isTheirs = (keys: readonly string[]): boolean => keys.some((key) => forms.includes(key));
  return named.every(isTheirs) ? named.flat() : undefined;
}
