import { sql, type RawBuilder } from 'kysely';
import type { Note } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import { reconcileAfterUndo } from './reconcile-contacts.ts';
import { lockLog, project } from '../people/rebuild.ts';
import { lockSuppressionsExclusive } from '../suppression/suppression-list.ts';
import { writeAboutPeople } from '../suppression/write-about-people.ts';

/** Contacts that an undo, or its reversal, changes. */
export interface UndoFigures {
  /** Contacts known only from the run: an undo removes them, its reversal restores them. */
  readonly removed: number;
  /** Contacts known from other runs as well: their values are computed without the run, or with the run again. */
  readonly restored: number;
  /** Of these, contacts whose email address only the run knows: an undo removes it, its reversal restores it. */
  readonly only_emails: number;
  /** Of these, contacts whose phones only the run knows. */
  readonly only_phones: number;
}

/** Log entries per transaction: writers of the same people wait for one transaction at most. */
const entriesPerBatch = 500;

/** An undo or revert holds this lock to its end, on a connection of its own: the end of the process releases it. */
const undoLock = sql.lit(4_207_312);

const saysEmail = sql<boolean>`o.facts ?| '{email,waterfall_emails}'`;
const saysPhones = sql<boolean>`o.facts ? 'phones'`;

/** The match `m` counts: no run whose undo led to it meets the condition on `u`. */
const ledToByUndone = (counts: RawBuilder<unknown>) => sql`
  (m.while_undone is null or not exists (
    select from runs u where u.run_id = any(m.while_undone) and (${counts})))`;

/**
 * Counts the contacts that `undoRun` or `revertUndo` would change: contacts that have a person while the run counts,
 * and contacts whose person the run has withdrawn.
 */
export async function measureUndo({ database }: Warehouse, runId: string): Promise<UndoFigures> {
  const { rows } = await sql<UndoFigures>`
    with observed as (
      select service, person_key, bool_or(${saysEmail}) as email, bool_or(${saysPhones}) as phones
      from observation_log o where run_id = ${runId} group by service, person_key
    ), theirs as (
      select source, contact_id from contact_matches where run_id = ${runId}
      union
      select c.source, c.contact_id from contacts c join observed o using (service, person_key)
    )
    select count(*) filter (where known.is_known is null)::int as removed, count(known.is_known)::int as restored,
      count(*) filter (where mine.email and not known.email)::int as only_emails,
      count(*) filter (where mine.phones and not known.phones)::int as only_phones
    from theirs t
    cross join lateral (
      select m.run_id, m.person_key from contact_matches m join runs r using (run_id)
      where m.source = t.source and m.contact_id = t.contact_id and (m.run_id = ${runId} or r.undone_at is null)
        and ${ledToByUndone(sql`u.undone_at is null or u.run_id = ${runId}`)}
      order by m.decided_at desc, m.match_id desc limit 1
    ) with_run
    left join lateral (
      select m.service, m.person_key from contact_matches m join runs r using (run_id)
      where m.source = t.source and m.contact_id = t.contact_id and m.run_id <> ${runId} and r.undone_at is null
        and ${ledToByUndone(sql`u.undone_at is null and u.run_id <> ${runId}`)}
      order by m.decided_at desc, m.match_id desc limit 1
    ) decided on true
    left join lateral (
      select bool_or(true) as is_known, bool_or(${saysEmail}) as email, bool_or(${saysPhones}) as phones
      from observation_log o join runs r using (run_id)
      where o.service = decided.service
        and o.person_key = decided.person_key
        and o.run_id <> ${runId}
        and r.undone_at is null
    ) known on true
    left join lateral (
      select bool_or(${saysEmail}) as email, bool_or(${saysPhones}) as phones
      from (
        select * from observation_log where service = decided.service and person_key = decided.person_key offset 0
      ) o
      where o.run_id = ${runId}
    ) mine on true
    where with_run.person_key is not null or (with_run.run_id = ${runId} and known.is_known)
  `.execute(database);
  return rows[0]!;
}

/**
 * Undoes a run: contacts and people are computed from the log without the run's entries. First the run is marked, so
 * that its late entries have no effect. Then its people and contacts are computed in batches of one transaction each,
 * and contacts of other runs that could be the same people are decided about again. After an interruption a second call
 * does the rest. Undos and reverts run one after another.
 *
 * Credits, calls, deliveries, outcomes of rows, the lookup history and the log stay.
 *
 * @param runId a run that has ended
 * @param signal ends it between two batches
 * @param progress receives the number of log entries that are done, after each batch
 * @throws Error if the run has not ended
 * @returns false if the signal ended it early
 */
export async function undoRun(
  warehouse: Warehouse,
  runId: string,
  note: Note,
  signal: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly complete: boolean }> {
  return withUndoLock(warehouse, () => change(warehouse, runId, note, signal, progress));
}

/** Reverts an undo: the run's log entries count again, including those that arrived after the undo. */
export async function revertUndo(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly complete: boolean }> {
  return withUndoLock(warehouse, () => change(warehouse, runId, undefined, signal, progress));
}

/** An undo, or its reversal, that is in progress or was interrupted; undefined: there is none. */
export async function readUnfinishedUndo({
  database,
}: Warehouse): Promise<{ readonly runId: string; readonly reverts: boolean } | undefined> {
  const run = await database
    .selectFrom('runs')
    .select(['run_id', 'undone_at'])
    .where('undo_unfinished', '=', true)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return run && { runId: run.run_id, reverts: run.undone_at === null };
}

async function withUndoLock<Result>({ database }: Warehouse, work: () => Promise<Result>): Promise<Result> {
  return database.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${undoLock})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${undoLock})`.execute(connection);
    }
  });
}

/**
 * Completes undos and reverts that were interrupted, then undoes or reverts the run. A decision that read people and
 * contacts of half an undo would stay after both were reverted.
 *
 * @param note undefined: revert
 */
async function change(
  warehouse: Warehouse,
  runId: string,
  note: Note | undefined,
  signal: AbortSignal,
  progress: (entries: number) => void,
): Promise<{ readonly complete: boolean }> {
  const interrupted = await warehouse.database
    .selectFrom('runs')
    .select('run_id')
    .where('undo_unfinished', '=', true)
    .where('run_id', '<>', runId)
    .execute();
  for (const other of interrupted) {
    const { complete } = await projectRun(warehouse, other.run_id, signal, () => {});
    if (!complete) return { complete };
  }
  await mark(warehouse, runId, note);
  return projectRun(warehouse, runId, signal, progress);
}

/**
 * Takes the lock that every writer of people holds: a writer that has not seen the mark has committed, and its people
 * are computed anew.
 */
async function mark(warehouse: Warehouse, runId: string, note: Note | undefined): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    await lockSuppressionsExclusive(transaction);
    const marked = await sql`
      update runs set undo_unfinished = undo_unfinished or (undone_at is null) = ${note !== undefined},
        undone_at = case when ${note !== undefined} then coalesce(undone_at, clock_timestamp()) end,
        undone_by = case when undone_at is null then ${note?.by ?? null} when ${note !== undefined} then undone_by end,
        undone_reason = case when undone_at is null then ${note?.reason ?? null}
          when ${note !== undefined} then undone_reason end
      where run_id = ${runId} and finished_at is not null
    `.execute(transaction);
    if (!marked.numAffectedRows) throw new Error(`run ${runId} has not ended`);
  });
}

async function projectRun(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
  progress: (entries: number) => void,
): Promise<{ readonly complete: boolean }> {
  let entries = 0;
  for (const batchOf of [matchesOf, observationsOf]) {
    let after: string | undefined = '0';
    while (after !== undefined) {
      if (signal.aborted) return { complete: false };
      const batch = await projectBatch(warehouse, batchOf(runId, after));
      entries += batch.entries;
      after = batch.last;
      progress(entries);
    }
  }
  await reconcileAfterUndo(warehouse, runId, signal);
  if (signal.aborted) return { complete: false };
  await warehouse.database
    .updateTable('runs')
    .set({ undo_unfinished: false })
    .where('run_id', '=', runId)
    .execute();
  return { complete: true };
}

/** Contacts that the run, or its undo, matched, with their people: nearly everything that changes. */
function matchesOf(runId: string, after: string) {
  return sql<LogEntry>`
    select match_id as id, service, person_key as "personKey", source, contact_id as "contactId"
    from contact_matches where (run_id = ${runId} or while_undone @> array[${runId}]) and match_id > ${after}
    order by match_id limit ${entriesPerBatch}
  `;
}

/** All people of the run's observations, such as people whose late results came for contacts of other runs. */
function observationsOf(runId: string, after: string) {
  return sql<LogEntry>`
    select observation_id as id, service, person_key as "personKey", null as source, null as "contactId"
    from observation_log where run_id = ${runId} and observation_id > ${after}
    order by observation_id limit ${entriesPerBatch}
  `;
}

interface LogEntry {
  readonly id: string;
  readonly service: string;
  readonly personKey: string | null;
  readonly source: string | null;
  readonly contactId: string | null;
}

async function projectBatch(
  { database }: Warehouse,
  query: ReturnType<typeof sql<LogEntry>>,
): Promise<{ readonly entries: number; readonly last: string | undefined }> {
  return writeAboutPeople(database, async (transaction) => {
    const { rows } = await query.execute(transaction);
    const first = rows[0];
    if (!first) return { entries: 0, last: undefined };
    const of = {
      service: first.service,
      people: [...new Set(rows.flatMap(({ personKey }) => (personKey === null ? [] : [personKey])))],
      contacts: rows.flatMap(({ source, contactId }) =>
        source === null || contactId === null ? [] : [{ source, contactId }],
      ),
    };
    await lockLog(transaction, of);
    await project(transaction, of);
    return { entries: rows.length, last: rows.length < entriesPerBatch ? undefined : rows.at(-1)!.id };
  });
}
