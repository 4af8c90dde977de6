import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { findPerson, type PersonTraces } from './person-traces.ts';
import {
  lockSuppressionsExclusive,
  clearPersonalData,
  suppress,
  withoutIds,
  type SuppressionNote,
} from './suppressions.ts';
import type { Tables } from '../db/schema.ts';

/** What the warehouse holds of somebody, or held before they were erased. */
export interface ErasureFigures {
  readonly contacts: number;
  readonly phones: number;
  /** What contacts and numbers of theirs were, kept so that runs can be undone. */
  readonly former_values: number;
  readonly rows: number;
  /** Bodies of the service's answers; they are removed whole, with what they say of others. */
  readonly answers: number;
  /** Bodies of deliveries, in the same way. */
  readonly deliveries: number;
  /** Names under which it was remembered that they were asked for. */
  readonly remembered: number;
}

/**
 * Measures what `erase` would remove, and changes nothing.
 *
 * @param keys identity keys of one person
 */
export async function measureErasure(
  { database }: Warehouse,
  keys: readonly string[],
): Promise<ErasureFigures> {
  const traces = await findPerson(database, keys);
  const { rows } = await sql<ErasureFigures>`
    select ${traces.contacts.length}::int as contacts, ${traces.rows.length}::int as rows,
      ${traces.journalEntries.length}::int as "former_values",
      (select count(*)::int from contact_phones p where ${ofTheirs(traces)}) as phones,
      (select count(*)::int from raw_answers where attempt_id = any(${traces.attemptIds}::text[])) as answers,
      (select count(*)::int from webhook_deliveries where attempt_id = any(${traces.attemptIds}::text[]) and body is not null) as deliveries,
      (select count(distinct identity_key)::int from lookup_history where identity_key = any(${traces.forms}::text[])) as remembered
  `.execute(database);
  return rows[0]!;
}

/**
 * Removes a person from the warehouse and puts them on the suppression list, in one transaction: they are asked for no more, and
 * what is still to come of them is dropped when it comes. What says how many rows, calls and credits there were stays.
 *
 * Bodies of answers and deliveries go whole: each holds up to ten people, and taking one out of it would leave something that
 * the service never said. A delivery that has still to be applied is applied first, and its body goes then.
 *
 * @param keys identity keys of one person; where nothing is known of them, they are put on the list all the same
 * @returns what was removed
 */
export async function erase(
  warehouse: Warehouse,
  keys: readonly string[],
  note: SuppressionNote,
): Promise<ErasureFigures> {
  // Before anybody has to wait: under the lock one more round finds what was written meanwhile.
  const { keys: known } = await findPerson(warehouse.database, keys);
  return warehouse.database.transaction().execute(async (transaction) => {
    // First of all: whoever writes of people now is waited for, and who comes later finds them on the list.
    await lockSuppressionsExclusive(transaction);
    const traces = await findPerson(transaction, known);
    await suppress(transaction, traces.keys, { ...note, reason: note.reason ?? 'erased' });
    const former_values = await eraseFormer(transaction, traces);
    const phones = await countOf(sql`delete from contact_phones p where ${ofTheirs(traces)}`, transaction);
    const contacts = await countOf(
      sql`delete from enriched_contacts p where ${ofTheirs(traces)}`,
      transaction,
    );
    const answers = await countOf(
      sql`delete from raw_answers where attempt_id = any(${traces.attemptIds}::text[])`,
      transaction,
    );
    const deliveries = await countOf(
      sql`update webhook_deliveries set body = null
        where attempt_id = any(${traces.attemptIds}::text[]) and body is not null and status <> 'received'`,
      transaction,
    );
    await forgetIds(transaction, traces);
    const rows = await clearRows(transaction, traces);
    await sql`delete from claims where identity_key = any(${traces.forms}::text[])`.execute(transaction);
    const forgotten = await sql<{ keys: number }>`
      with forgotten as (delete from lookup_history where identity_key = any(${traces.forms}::text[]) returning identity_key)
      select count(distinct identity_key)::int as keys from forgotten
    `.execute(transaction);
    const removed = {
      contacts,
      phones,
      former_values,
      rows,
      answers,
      deliveries,
      remembered: forgotten.rows[0]!.keys,
    };
    await sql`
      insert into erasures (erasure_id, erased_by, reason, removed)
      values (${randomUUID()}, ${note.by}, ${note.reason ?? null}, ${JSON.stringify(removed)}::jsonb)
    `.execute(transaction);
    return removed;
  });
}

/** Over `p`: contacts and phones of the person. A contact that was theirs once, and is another's now, is not. */
function ofTheirs({ contacts, personIds }: PersonTraces) {
  return sql`(p.person_id = any(${personIds}::text[]) or (p.source, p.contact_id) in (
    select * from unnest(${contacts.map(({ source }) => source)}::text[], ${contacts.map(({ contactId }) => contactId)}::text[])))`;
}

/**
 * What contacts and numbers of theirs were. An entry that another run's stands above or below stays, and says that there was
 * nothing: undoing that run then removes the contact. Of contacts that go nothing is left.
 */
async function eraseFormer(transaction: Transaction<Tables>, traces: PersonTraces): Promise<number> {
  const former = await countOf(
    sql`update contact_journal set former = null where entry_id = any(${traces.journalEntries}::bigint[]) and former is not null`,
    transaction,
  );
  await sql`
    delete from contact_journal j using contact_phones p
    where ${ofTheirs(traces)} and j.source = p.source and j.contact_id = p.contact_id and j.number = p.number
  `.execute(transaction);
  await sql`
    delete from contact_journal j using enriched_contacts p
    where ${ofTheirs(traces)} and j.source = p.source and j.contact_id = p.contact_id
  `.execute(transaction);
  return former;
}

async function countOf(statement: ReturnType<typeof sql>, transaction: Transaction<Tables>): Promise<number> {
  return Number((await statement.execute(transaction)).numAffectedRows ?? 0n);
}

/** Their ids at the service, where they only say how many people there were. */
async function forgetIds(
  transaction: Transaction<Tables>,
  { personIds, attemptIds }: PersonTraces,
): Promise<void> {
  await sql`
    update attempt_people set person_id = null where person_id = any(${personIds}::text[])
  `.execute(transaction);
  await sql`
    update attempts set found_ids = ${withoutIds('found_ids', personIds)}
    where attempt_id = any(${attemptIds}::text[]) and found_ids && ${personIds}::text[]
  `.execute(transaction);
  await sql`
    update webhook_deliveries set person_ids = ${withoutIds('person_ids', personIds)}
    where attempt_id = any(${attemptIds}::text[]) and person_ids && ${personIds}::text[]
  `.execute(transaction);
}

/** Rows keep their number and their outcome, so that the rows of a file still add up; one that has none yet is suppressed. */
async function clearRows(transaction: Transaction<Tables>, { rows }: PersonTraces): Promise<number> {
  // In one order everywhere: a plan or a pruning that changes the same rows waits only one way round.
  const cleared = await sql`
    with locked as (
      select r.run_id, r.row_number from run_rows r where (r.run_id, r.row_number) in (
        select * from unnest(${rows.map(({ runId }) => runId)}::text[], ${rows.map(({ rowNumber }) => rowNumber)}::int[]))
      order by r.run_id, r.row_number for update
    )
    update run_rows r set ${clearPersonalData}, contact_id = 'erased:' || r.row_number,
      reason = case when r.outcome is null then 'erased before they were asked for' else r.reason end,
      outcome = coalesce(r.outcome, 'suppressed')
    from locked theirs where r.run_id = theirs.run_id and r.row_number = theirs.row_number
  `.execute(transaction);
  return Number(cleared.numAffectedRows ?? 0n);
}
