import { isDeepStrictEqual } from 'node:util';
import { sql, type Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity-columns.ts';
import { isWeak } from '../../domain/identity/identity-evidence.ts';
import type { ContactState } from './contact-states.ts';

/**
 * Finds contacts whose record had a person by weak evidence in an undone run, of any source, with the same cells: a
 * call has asked exactly for this contact, and its answer was paid for.
 *
 * @returns the keys of these people, by contact
 */
export async function readAnsweredBeforeUndo(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<ReadonlyMap<ContactState, readonly string[]>> {
  if (contacts.length === 0) return new Map();
  const { rows } = await sql<
    IdentityColumns & {
      readonly contact_id: string;
      readonly person_keys: readonly string[];
      readonly evidence: string;
    }
  >`
    select k.contact_id, coalesce(m.person_keys, array[m.person_key]) as person_keys, m.evidence, k.person_id, k.email,
      k.other_emails, k.hashed_email, k.profile_url, k.first_name, k.last_name, k.name, k.organization_name, k.domain
    from unnest(
      ${contacts.map(({ contactId }) => contactId)}::text[],
      ${contacts.map(({ compared }) => compared.keys[0] ?? null)}::text[]) as c (contact_id, key)
    cross join lateral (select * from contact_records where keys @> array[c.key] offset 0) k
    join runs u on u.run_id = k.run_id and u.undone_at is not null
    cross join lateral (
      select * from contact_matches
      where source = k.source and contact_id = k.contact_id and run_id = k.run_id
      order by decided_at desc, match_id desc
      limit 1
    ) m
    where k.contact_id = c.contact_id and m.service = ${service} and m.person_key is not null
  `.execute(database);
  const records = rows.filter(({ evidence }) => isWeak(evidence));
  const answered = contacts.map((contact) => {
    const same = records.filter(
      (record) =>
        record.contact_id === contact.contactId &&
        isDeepStrictEqual(identityOfColumns(record), contact.compared.identity),
    );
    return [contact, same.flatMap((record) => record.person_keys)] as const;
  });
  return new Map(answered.filter(([, people]) => people.length > 0));
}
