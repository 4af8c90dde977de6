import { sql, type RawBuilder, type Transaction, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Warehouse } from '../db/database.ts';
import { clearPersonalData } from '../suppression/drop-suppressed.ts';
import type { Retention } from '../domain/runs/retention.ts';
import { statusesWithReservation } from '../domain/money/attempt-status.ts';
import { nameList } from '../db/expressions.ts';
import { maySpend } from '../db/run-states.ts';

/** Retention of rows: `staging` clears the personal data of rows, `rows` removes the rows. */
type RowsRetained = 'staging' | 'rows';

/** A range of rows of a run: after `from`, up to `to`. */
interface Batch {
  readonly runId: string;
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

interface RowsPruning {
  /** The column of `runs` that stores the last row of this range as progress. */
  readonly done: 'rows_pruned' | 'rows_dropped';
  readonly prune: (transaction: Transaction<Tables>, batch: Batch) => Promise<number>;
}

/** Number of rows per transaction. Transactions must be short, and a run can have millions of rows. */
const rowsPerBatch = 5_000;

const prunings: Readonly<Record<RowsRetained, RowsPruning>> = {
  staging: { done: 'rows_pruned', prune: clearRows },
  rows: { done: 'rows_dropped', prune: removeRows },
};

/** SQL condition: rows of a run `r` are older than their retention and not pruned yet. */
const isUnpruned = (kind: RowsRetained, retention: Retention): RawBuilder<boolean> => sql`
  (r.${sql.ref(prunings[kind].done)} < r.rows_staged and r.status <> 'planned' and ${isOldRun(retention[kind])})`;

export interface PrunedRows {
  readonly runs: number;
  readonly rows: number;
}

/** Counts rows that are older than their retention: rows to prune, and runs that still need their rows. */
export async function measureRows({ database }: Warehouse, kind: RowsRetained, retention: Retention) {
  const { rows } = await sql<PrunedRows & { readonly keptRuns: string[] }>`
    select count(*) filter (where ready)::int as runs,
      coalesce(sum(rows_staged - done) filter (where ready), 0)::float8 as rows,
      coalesce(array_agg(run_id) filter (where not ready), '{}') as "keptRuns"
    from (
      select r.run_id, r.rows_staged, r.${sql.ref(prunings[kind].done)} as done, not ${isBusyRun()} as ready
      from runs r
      where ${isUnpruned(kind, retention)}
    ) old
  `.execute(database);
  const { keptRuns, ...pruned } = rows[0]!;
  return { pruned, keptRuns };
}

/** Prunes old rows, one run after another. @param signal aborts between two batches */
export async function pruneRows(
  { database }: Warehouse,
  kind: RowsRetained,
  retention: Retention,
  signal: AbortSignal,
): Promise<PrunedRows> {
  const runs = new Set<string>();
  let rows = 0;
  while (!signal.aborted) {
    const batch = await database.transaction().execute(async (transaction) => {
      const next = await nextBatch(transaction, kind, retention);
      return next && { ...next, pruned: await prunings[kind].prune(transaction, next) };
    });
    if (!batch) break;
    runs.add(batch.runId);
    rows += batch.pruned;
  }
  return { runs: runs.size, rows };
}

/** Locks the oldest run with rows to prune, unless another process has locked it. Undefined: nothing is left. */
async function nextBatch(
  transaction: Transaction<Tables>,
  kind: RowsRetained,
  retention: Retention,
): Promise<Batch | undefined> {
  const done = sql.ref(prunings[kind].done);
  const { rows } = await sql<Batch>`
    select r.run_id as "runId", r.${done} as from, least(r.rows_staged, r.${done} + ${rowsPerBatch}) as to,
      r.${done} + ${rowsPerBatch} >= r.rows_staged as "isLast"
    from runs r
    where ${isUnpruned(kind, retention)} and not ${isBusyRun()}
    order by r.created_at
    limit 1
    for no key update of r skip locked
  `.execute(transaction);
  return rows[0];
}

/** Clears the personal data of rows. Row numbers, outcomes and reasons stay. */
async function clearRows(transaction: Transaction<Tables>, { runId, from, to }: Batch): Promise<number> {
  const cleared = await sql`
    update run_rows l set ${clearPersonalData}
    where run_id = ${runId} and row_number > ${from} and row_number <= ${to}
  `.execute(transaction);
  await sql`update runs set rows_pruned = ${to} where run_id = ${runId}`.execute(transaction);
  return Number(cleared.numAffectedRows);
}

/** Removes rows. The run keeps the number of rows by outcome. */
async function removeRows(
  transaction: Transaction<Tables>,
  { runId, from, to, isLast }: Batch,
): Promise<number> {
  await sql`
    update runs
    set rows_dropped = ${to}, rows_pruned = greatest(rows_pruned, ${to}),
      outcomes = coalesce(outcomes, (
        select jsonb_object_agg(outcome, rows) from run_outcomes where run_id = ${runId}))
    where run_id = ${runId}
  `.execute(transaction);
  const removed = await sql`
    delete from run_rows where run_id = ${runId} and row_number > ${from} and row_number <= ${to}
  `.execute(transaction);
  // The last batch has no upper limit: positions have gaps, so the highest position exceeds the number of rows.
  await sql`
    delete from run_people where run_id = ${runId} and position >= ${from} and (${isLast} or position < ${to})
  `.execute(transaction);
  return Number(removed.numAffectedRows);
}

/** A run with old data that is still needed, and the reason. */
export interface HeldRun {
  readonly run_id: string;
  readonly has_ended: boolean;
  /** Number of calls that wait for a decision about their cost. */
  readonly unknown_calls: number;
  readonly awaiting_calls: number;
  readonly unread_deliveries: number;
}

/** Reads why these runs still need their old data. */
export async function describeHeldRuns(
  database: Kysely<Tables>,
  runIds: readonly string[],
): Promise<HeldRun[]> {
  if (runIds.length === 0) return [];
  const { rows } = await sql<HeldRun>`
    select r.run_id, r.finished_at is not null as has_ended,
      (select count(*)::int from attempts where run_id = r.run_id and status = 'unknown') as unknown_calls,
      (select count(*)::int from attempts where run_id = r.run_id and status = 'awaiting') as awaiting_calls,
      (select count(*)::int from webhook_deliveries where run_id = r.run_id and status = 'received')
        as unread_deliveries
    from runs r
    where r.run_id = any(${runIds}::text[])
    order by r.created_at, r.run_id
  `.execute(database);
  return rows;
}

/** SQL: the time before which data is removed; null: never. `clock_timestamp()` would prevent the use of an index. */
export function retentionCutoff(seconds: number | undefined): RawBuilder<Date | null> {
  return sql`(now() - make_interval(secs => ${seconds ?? null}::float8))`;
}

/**
 * SQL condition: a run `r` ended long enough ago. A plan without approval deletes its rows when it ends. If the process
 * was killed, these rows are removed after a day.
 */
function isOldRun(seconds: number | undefined): RawBuilder<boolean> {
  const isAbandonedPlan = sql`(
    r.finished_at is null and not ${maySpend} and r.created_at < clock_timestamp() - interval '1 day')`;
  return sql`(
    (r.finished_at < ${retentionCutoff(seconds)})
    or (${isAbandonedPlan} and r.created_at < ${retentionCutoff(seconds)})
  )`;
}

const soonDecided = statusesWithReservation.filter((status) => status !== 'unknown');

/**
 * SQL condition: a call of a run `r` awaits late results, or a delivery waits in the inbox. An unknown call does not
 * keep rows, because a decision about it may never come and concerns only credits.
 */
function isBusyRun(): RawBuilder<boolean> {
  return sql`(
    exists (select 1 from attempts a where a.run_id = r.run_id and a.status in (${nameList(soonDecided)}))
    or exists (select 1 from webhook_deliveries w where w.run_id = r.run_id and w.status = 'received'))`;
}
