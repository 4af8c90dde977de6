import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { DecisionNote } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { exportSortKey, isCrmExport } from '../db/run-states.ts';
import { digest, withDigestLocked } from '../people/digest.ts';
import { queuePeople, queuePeopleWithKeys } from '../people/digest-queue.ts';
import { recordContacts, recordContactsOfRepeatingExport } from '../people/record-contacts.ts';
import type { PersonReference } from '../people/people-tables.ts';

/** Numbers of contacts with a person that an undo, or its revert, can change. */
export interface UndoFigures {
  /** Contacts that are only in the run's export. An undo removes them, and a revert restores them. */
  readonly removed: number;
  /** Contacts that are also in other exports. Those exports decide about them, without or with this run. */
  readonly restored: number;
}

/** Counts what an undo of this run would change, or what the revert of its undo would. */
export async function measureUndo({ database }: Warehouse, runId: string): Promise<UndoFigures> {
  const { rows } = await sql<UndoFigures>`
    select count(*) filter (where not is_repeated)::int as removed, count(*) filter (where is_repeated)::int as restored
    from (
      select exists (
        select from contact_records other
        join runs u on u.run_id = other.run_id and u.undone_at is null
        where other.source = k.source and other.contact_id = k.contact_id and other.run_id <> k.run_id
      ) or exists (
        select from run_rows r
        join runs u on u.run_id = r.run_id and u.source = k.source and ${sql.raw(isCrmExport('u'))}
        -- An earlier export without records, such as one whose run was declined, does not decide about contacts.
        where r.contact_id = k.contact_id and ${sql.raw(`${exportSortKey('u')} > ${exportSortKey('self')}`)}
      ) as is_repeated
      from contact_records k
      join runs self on self.run_id = k.run_id
      where k.run_id = ${runId}
        and exists (
          select from contact_matches m
          where m.source = k.source and m.contact_id = k.contact_id
            and (m.valid_to is null or (select undone_at from runs where run_id = k.run_id) is not null))
    ) recorded
  `.execute(database);
  return rows[0]!;
}

/**
 * Undoes an ended run: its contact records no longer count, and the digest decides without them. People stay known, so
 * the same file under the right source or mapping costs nothing. Credits, calls, outcomes and lookups stay.
 *
 * @param signal aborts the digest between two steps; the next digest does the rest
 * @throws Error if the run has not ended
 * @returns false if the signal aborted the undo early
 */
export async function undoRun(
  warehouse: Warehouse,
  runId: string,
  note: DecisionNote,
  signal: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly complete: boolean }> {
  await mark(
    warehouse,
    runId,
    sql`undone_at = coalesce(undone_at, clock_timestamp()),
      undone_by = case when undone_at is null then ${note.by} else undone_by end,
      undone_reason = case when undone_at is null then ${note.reason ?? null} else undone_reason end`,
  );
  return digest(warehouse, signal, progress);
}

/**
 * Reverts an undo: the contact records of the run count again, and the digest restores their matches.
 *
 * @returns false if the signal aborted it early
 */
export async function revertUndo(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly complete: boolean }> {
  await mark(
    warehouse,
    runId,
    sql`undone_at = null, undone_by = null, undone_reason = null`,
    // The run has no record of a contact that was unchanged since a run that is undone meanwhile.
    (transaction) => recordContacts(transaction, runId, sql<boolean>`true`),
  );
  return digest(warehouse, signal, progress);
}

/**
 * Marks a run as undone or not, and queues its contacts and the people that they compete for.
 *
 * @param record adds contact records of the run before its contacts are queued
 * @throws Error if the run has not ended, or its answers were discarded
 */
async function mark(
  warehouse: Warehouse,
  runId: string,
  assignments: RawBuilder<unknown>,
  record: (transaction: Transaction<Tables>) => Promise<void> = async () => {},
): Promise<void> {
  await withDigestLocked(warehouse.database, async (transaction) => {
    const marked = await sql`
      update runs set ${assignments}
      where run_id = ${runId} and finished_at is not null and answers_discarded_at is null
    `.execute(transaction);
    if (!marked.numAffectedRows) throw new Error(`run ${runId} has not ended, or its answers were discarded`);
    await record(transaction);
    await recordContactsOfRepeatingExport(transaction, runId);
    await sql`
      insert into digest_queue (kind, owner, name)
      select 'contact', source, contact_id from contact_records where run_id = ${runId} order by source, contact_id
    `.execute(transaction);
    // The undone records no longer compete for people, so other contacts may get these people now.
    await queuePeopleWithKeys(
      transaction,
      sql`select unnest(match_keys) from contact_records where run_id = ${runId}`,
    );
  });
}

export type DiscardedAnswers = Awaited<ReturnType<typeof discardAnswers>>;

/** Removes the answers, deliveries and lookups of an undone run for good. @throws Error if the undo was reverted */
export async function discardAnswers(warehouse: Warehouse, runId: string, signal: AbortSignal) {
  const discarded = await withDigestLocked(warehouse.database, async (transaction) => {
    const marked = await sql`
      update runs set answers_discarded_at = clock_timestamp() where run_id = ${runId} and undone_at is not null
    `.execute(transaction);
    if (!marked.numAffectedRows) throw new Error(`run ${runId} is not undone`);
    const { rows } = await sql<PersonReference>`
      delete from observation_log where run_id = ${runId} returning service, person_key as "personKey"
    `.execute(transaction);
    await queuePeople(transaction, rows);
    await sql`
      delete from raw_answers b using attempts a where a.attempt_id = b.attempt_id and a.run_id = ${runId}
    `.execute(transaction);
    await sql`
      update webhook_deliveries set body = null where run_id = ${runId} and status <> 'received'
    `.execute(transaction);
    // The next run pays again for the people with these keys.
    const removed = await sql<{ lookupKeys: number }>`
      with removed as (
        delete from lookup_history
        where lookup_run = (select lookup_run from lookup_runs where run_id = ${runId})
        returning key_hash
      )
      select count(distinct key_hash)::int as "lookupKeys" from removed
    `.execute(transaction);
    return { observations: rows.length, ...removed.rows[0]! };
  });
  await digest(warehouse, signal);
  return discarded;
}
