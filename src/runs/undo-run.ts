import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { lockLog, project } from '../people/project.ts';
import { lockSuppressionsExclusive, lockSuppressionsShared } from '../privacy/suppressions.ts';

/** What undoing a run does to contacts, or what taking the undo back does. */
export interface UndoFigures {
  /** Contacts of whom nothing is known without the run: they go, or come back. */
  readonly removed: number;
  /** Contacts that are known from other runs as well: their values are computed without the run, or with it again. */
  readonly restored: number;
}

/** Who undoes a run, and why. */
export interface UndoNote {
  readonly by: string;
  readonly reason: string | undefined;
}

/** One transaction computes so many log entries anew: others wait for their people no longer than that takes. */
const entriesPerBatch = 500;

/** Measures what `undoRun` or `revertUndo` would do, and changes nothing. */
export async function measureUndo({ database }: Warehouse, runId: string): Promise<UndoFigures> {
  const { rows } = await sql<UndoFigures>`
    with observed as (
      select distinct service, person_key from observations where run_id = ${runId}
    ), theirs as (
      select source, contact_id from contact_matches where run_id = ${runId}
      union
      select c.source, c.contact_id from contacts c join observed o using (service, person_key)
    )
    select count(*) filter (where known.person_key is null)::int as removed, count(known.person_key)::int as restored
    from theirs t
    left join lateral (
      select m.service, m.person_key from contact_matches m join runs r using (run_id)
      where m.source = t.source and m.contact_id = t.contact_id and m.run_id <> ${runId} and r.undone_at is null
      order by m.decided_at desc, m.match_id desc limit 1
    ) decided on true
    left join lateral (
      select o.person_key from observations o join runs r using (run_id)
      where o.service = decided.service and o.person_key = decided.person_key and o.run_id <> ${runId}
        and r.undone_at is null
      limit 1
    ) known on true
  `.execute(database);
  return rows[0]!;
}

/**
 * Undoes a run: contacts and people are computed from the log without its entries. First the run is marked, so that
 * whatever it appends late changes nothing; then its people and contacts follow in batches of one transaction each.
 * Whatever ends it in between, undoing again does the rest.
 *
 * Credits, calls, deliveries, outcomes of rows and the history of lookups stay, and so does the log.
 *
 * @param runId a run that has ended
 * @param signal ends it between two batches
 * @param progress is told after each batch how many entries of the log are done
 * @throws Error where the run has not ended
 * @returns whether all is done
 */
export async function undoRun(
  warehouse: Warehouse,
  runId: string,
  note: UndoNote,
  signal: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly complete: boolean }> {
  await mark(warehouse, runId, note);
  return projectRun(warehouse, runId, signal, progress);
}

/** Takes an undo back: the run's entries of the log count again, those that came meanwhile included. */
export async function revertUndo(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly complete: boolean }> {
  await mark(warehouse, runId, undefined);
  return projectRun(warehouse, runId, signal, progress);
}

/**
 * Under the lock that every writer of people holds: whoever has not seen the mark has committed, and is projected
 * anew.
 */
async function mark(warehouse: Warehouse, runId: string, note: UndoNote | undefined): Promise<void> {
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
  await sql`update runs set undo_unfinished = false where run_id = ${runId}`.execute(warehouse.database);
  return { complete: true };
}

/** Contacts that the run decided about, with the people whom it took them for: nearly all that it changed. */
function matchesOf(runId: string, after: string) {
  return sql<LogEntry>`
    select match_id as id, service, person_key as "personKey", source, contact_id as "contactId"
    from contact_matches where run_id = ${runId} and match_id > ${after} order by match_id limit ${entriesPerBatch}
  `;
}

/** Everybody of whom the run said anything, such as people whose late results came for contacts of other runs. */
function observationsOf(runId: string, after: string) {
  return sql<LogEntry>`
    select observation_id as id, service, person_key as "personKey", null as source, null as "contactId"
    from observations where run_id = ${runId} and observation_id > ${after}
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
  return database.transaction().execute(async (transaction) => {
    await lockSuppressionsShared(transaction);
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
