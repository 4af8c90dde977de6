import { sql, type RawBuilder, type Transaction } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity-columns.ts';
import { identityCells } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import { recordHash } from '../../people/decisions/contact-decisions.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { unnestContacts, unnestRows } from '../../keys/unnest-keys.ts';
import { isOfPeople } from './find-people.ts';
import type { PersonTraces } from './person-traces.ts';

/** Reads the contacts of a person and of the person's rows. Before the rows are cleared. */
export async function readContactsOf(
  transaction: Transaction<Tables>,
  { rows, contacts }: PersonTraces,
): Promise<readonly ContactKey[]> {
  const { rows: found } = await sql<ContactKey>`
    select runs.source, r.contact_id as "contactId"
    from ${unnestRows(rows)} as n (run_id, row_number)
    join run_rows r on r.run_id = n.run_id and r.row_number = n.row_number
    join runs on runs.run_id = n.run_id
    union
    select k.source, k.contact_id
    from ${unnestRows(rows)} as n (run_id, row_number)
    join contact_records k on k.run_id = n.run_id and k.row_number = n.row_number
    union
    select * from ${unnestContacts(contacts)}
  `.execute(transaction);
  return found;
}

/**
 * Removes the decisions about a person, and those about records of the person. A record that was two people keeps the
 * decisions about the other: their hash is that of cells that are left.
 *
 * @param contacts of the person. Their rows are cleared
 */
export async function eraseDecisions(
  transaction: Transaction<Tables>,
  { people }: PersonTraces,
  contacts: readonly ContactKey[],
): Promise<void> {
  await sql`delete from contact_decisions where ${isOfPeople(people)}`.execute(transaction);
  if (contacts.length === 0) return;
  const named = unnestContacts(contacts);
  const left = await readLeft(transaction, named);
  await sql`
    delete from contact_decisions d
    where (d.source, d.contact_id) in (select * from ${named})
      and (d.source, d.contact_id, d.record_hash) not in (
        select * from unnest(${left.map(({ source }) => source)}::text[],
          ${left.map(({ contactId }) => contactId)}::text[], ${left.map(({ hash }) => hash)}::text[]))
  `.execute(transaction);
}

async function readLeft(
  transaction: Transaction<Tables>,
  named: RawBuilder<unknown>,
): Promise<readonly (ContactKey & { readonly hash: string })[]> {
  const { rows } = await sql<ContactKey & IdentityColumns>`
    select n.source, n.contact_id as "contactId", ${identityCells('r')}
    from ${named} as n (source, contact_id)
    join run_rows r on r.contact_id = n.contact_id and r.keys <> '{}'
    join runs on runs.run_id = r.run_id and runs.source = n.source
    union
    select n.source, n.contact_id, ${identityCells('k')}
    from ${named} as n (source, contact_id)
    join contact_records k on k.source = n.source and k.contact_id = n.contact_id
  `.execute(transaction);
  return rows.map(({ source, contactId, ...cells }) => ({
    source,
    contactId,
    hash: recordHash(identityOfColumns(cells)),
  }));
}
