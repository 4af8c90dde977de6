import { sql, type RawBuilder, type Transaction } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../domain/identity/identity-columns.ts';
import { identityCells } from '../db/expressions.ts';
import type { Tables } from '../db/schema.ts';
import { recordHash } from '../people/decisions/contact-decisions.ts';
import { peopleOf } from './find-people.ts';
import type { PersonTraces } from './person-traces.ts';

/** A contact about which somebody has decided. */
interface DecidedContact {
  readonly source: string;
  readonly contact_id: string;
}

/** Reads the contacts of a person about which somebody has decided. Before the rows are cleared. */
export async function readDecidedContacts(
  transaction: Transaction<Tables>,
  { rows, contacts }: PersonTraces,
): Promise<readonly DecidedContact[]> {
  const { rows: decided } = await sql<DecidedContact>`
    select distinct d.source, d.contact_id
    from (
      select runs.source, r.contact_id
      from unnest(${rows.map(({ runId }) => runId)}::text[], ${rows.map(({ rowNumber }) => rowNumber)}::int[])
        as n (run_id, row_number)
      join run_rows r on r.run_id = n.run_id and r.row_number = n.row_number
      join runs on runs.run_id = n.run_id
      union
      select k.source, k.contact_id
      from unnest(${rows.map(({ runId }) => runId)}::text[], ${rows.map(({ rowNumber }) => rowNumber)}::int[])
        as n (run_id, row_number)
      join contact_records k on k.run_id = n.run_id and k.row_number = n.row_number
      union
      select * from unnest(${contacts.map(({ source }) => source)}::text[],
        ${contacts.map(({ contactId }) => contactId)}::text[])
    ) theirs
    join contact_decisions d on d.source = theirs.source and d.contact_id = theirs.contact_id
  `.execute(transaction);
  return decided;
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
  contacts: readonly DecidedContact[],
): Promise<void> {
  await sql`
    delete from contact_decisions where (service, person_key) in (${peopleOf(people)})
  `.execute(transaction);
  if (contacts.length === 0) return;
  const named = sql`
    select * from unnest(${contacts.map(({ source }) => source)}::text[],
      ${contacts.map((contact) => contact.contact_id)}::text[]) as n (source, contact_id)`;
  const left = await readLeft(transaction, named);
  await sql`
    delete from contact_decisions d
    where (d.source, d.contact_id) in (${named})
      and (d.source, d.contact_id, d.record_hash) not in (
        select * from unnest(${left.map(({ source }) => source)}::text[],
          ${left.map((row) => row.contact_id)}::text[], ${left.map(({ hash }) => hash)}::text[]))
  `.execute(transaction);
}

async function readLeft(
  transaction: Transaction<Tables>,
  named: RawBuilder<unknown>,
): Promise<readonly (DecidedContact & { readonly hash: string })[]> {
  const { rows } = await sql<DecidedContact & IdentityColumns>`
    select n.source, n.contact_id, ${identityCells('r')}
    from (${named}) n
    join run_rows r on r.contact_id = n.contact_id and r.keys <> '{}'
    join runs on runs.run_id = r.run_id and runs.source = n.source
    union
    select n.source, n.contact_id, ${identityCells('k')}
    from (${named}) n
    join contact_records k on k.source = n.source and k.contact_id = n.contact_id
  `.execute(transaction);
  return rows.map(({ source, contact_id: contactId, ...cells }) => ({
    source,
    contact_id: contactId,
    hash: recordHash(identityOfColumns(cells)),
  }));
}
