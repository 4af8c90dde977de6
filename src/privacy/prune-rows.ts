import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Warehouse } from '../db/database.ts';
import { outcomesOfRows } from '../db/run-states.ts';
import {
  isNewerThanOldest,
  olderNeededRows,
  oldestWithCells,
  hasUnknownCalls,
  isOldRun,
  isQuietRun,
} from './held-runs.ts';
import { clearPersonalData } from '../suppression/drop-suppressed.ts';
import type { Retention } from '../domain/runs/retention.ts';

/** `staging` clears the personal data of rows, `rows` removes the rows. */
type RowsRetained = 'staging' | 'rows';

/** Rows of a run after `from`, up to `to`. */
interface Batch {
  readonly runId: string;
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
  /** Numbers of the rows that are still needed. */
  readonly needed: readonly number[];
}

interface RowsPruning {
  /** The column of `runs` that has the progress. */
  readonly done: RawBuilder<number>;
  /** The column of `runs` that says whether rows below the progress were left, because they were needed. */
  readonly left: RawBuilder<boolean>;
  readonly isOld: (retention: Retention) => RawBuilder<boolean>;
  /** Condition: rows of a run `r` can be pruned when the runs `o` with this condition have no cells. */
  readonly isReady: (loses: RawBuilder<boolean>) => RawBuilder<boolean>;
  /** Query of the numbers of the rows of a run `r` that are needed all the same. */
  readonly needed: RawBuilder<unknown>;
  /** Condition: the row `l`, which was left, is not pruned yet. */
  readonly isLeft: RawBuilder<boolean>;
  /** @returns the number of rows that it has pruned */
  readonly prune: (transaction: Transaction<Tables>, batch: Batch) => Promise<number>;
}

/** Short transactions, because a run can have millions of rows. */
const rowsPerBatch = 5_000;

/**
 * Condition: no older export of the source has cells. A row says nothing about its contact where a newer export has the
 * contact, so the newer row stays until the cells of older rows are cleared.
 *
 * @param loses condition: a run `o` does not count, because it loses its cells in the same pruning
 */
const hasNoOlderCells = (loses: RawBuilder<boolean>): RawBuilder<boolean> => sql`not exists (
  select from (${oldestWithCells(loses)}) oldest where ${isNewerThanOldest})`;

/** Condition: a pruning by these times clears or removes the rows of a run `o`, except rows that are needed. */
export const losesCells = ({ staging, rows }: Retention): RawBuilder<boolean> => sql`coalesce(
  ${isQuietRun('o')} and (${isOldRun(staging, 'o')} or ${isOldRun(rows, 'o')}), false)`;

const hasCells = sql<boolean>`(l.keys <> '{}' or l.raw <> '[]')`;

const prunings: Readonly<Record<RowsRetained, RowsPruning>> = {
  staging: {
    done: sql`r.rows_pruned`,
    left: sql`r.cells_left`,
    // The rows of a run with a call of unknown cost are not removed, so `rows` clears them.
    isOld: ({ staging, rows }) => sql`(${isOldRun(staging)} or (${isOldRun(rows)} and ${hasUnknownCalls()}))`,
    isReady: () => isQuietRun(),
    needed: sql`
      select p.row_number from attempts a join attempt_people p using (attempt_id)
      where a.run_id = r.run_id and a.status = 'unknown'`,
    isLeft: hasCells,
    prune: clearRows,
  },
  rows: {
    done: sql`r.rows_dropped`,
    left: sql`r.rows_left`,
    isOld: ({ rows }) => isOldRun(rows),
    isReady: (loses) => sql`(${isQuietRun()} and not ${hasUnknownCalls()} and ${hasNoOlderCells(loses)})`,
    needed: sql`
      select row_number from run_rows
      where run_id = r.run_id and contact_id in (select contact_id from (${olderNeededRows}) older)`,
    isLeft: sql`true`,
    prune: removeRows,
  },
};

/** Condition: rows of a run `r` are older than a retention and are not pruned. */
const isUnpruned = ({ done, left, isOld }: RowsPruning, retention: Retention): RawBuilder<boolean> => sql`
  (${done} < r.rows_staged or ${left}) and r.status <> 'planned' and ${isOld(retention)}`;

export interface PrunedRows {
  readonly runs: number;
  readonly rows: number;
}

/** Rows that are older than a retention: what can be pruned, and the runs whose rows are still needed. */
interface MeasuredRows {
  readonly pruned: PrunedRows;
  readonly keptRuns: readonly string[];
}

/** Measures rows that are older than a retention: what can be pruned, and which runs are still needed. */
export async function measureRows(
  { database }: Warehouse,
  kind: RowsRetained,
  retention: Retention,
): Promise<MeasuredRows> {
  const pruning = prunings[kind];
  const { done, needed, isLeft } = pruning;
  const { rows } = await sql<PrunedRows & { readonly keptRuns: string[] }>`
    select count(*) filter (where ready and rows > 0)::int as runs,
      coalesce(sum(rows) filter (where ready), 0)::float8 as rows,
      coalesce(array_agg(run_id) filter (where not ready or needed > 0), '{}') as "keptRuns"
    from (
      select r.run_id, ${pruning.isReady(losesCells(retention))} as ready, n.needed,
        case
          when ${done} < r.rows_staged then r.rows_staged - ${done} - n.needed_above
          when n.needed = 0 then (
            select count(*)::int from run_rows l where l.run_id = r.run_id and ${isLeft})
          else 0
        end as rows
      from runs r
      cross join lateral (
        select count(*)::int as needed, (count(*) filter (where row_number > ${done}))::int as needed_above
        from (select distinct row_number from (${needed}) each) each
      ) n
      where ${isUnpruned(pruning, retention)}
    ) old
  `.execute(database);
  const { keptRuns, ...pruned } = rows[0]!;
  return { pruned, keptRuns };
}

/** Prunes rows that are older than a retention, run after run. @param signal ends it between two batches */
export async function pruneRows(
  { database }: Warehouse,
  kind: RowsRetained,
  retention: Retention,
  signal: AbortSignal,
): Promise<PrunedRows> {
  const { prune } = prunings[kind];
  const runs = new Set<string>();
  let rows = 0;
  while (!signal.aborted) {
    const batch = await database.transaction().execute(async (transaction) => {
      const next = await nextBatch(transaction, kind, retention);
      return next && { ...next, pruned: await prune(transaction, next) };
    });
    if (!batch) break;
    if (batch.pruned > 0) runs.add(batch.runId);
    rows += batch.pruned;
  }
  return { runs: runs.size, rows };
}

/**
 * The next rows of a run. Rows that were left are pruned in a second pass, when none of them is needed any more. They
 * are few, so one batch has all of them.
 */
async function nextBatch(
  transaction: Transaction<Tables>,
  kind: RowsRetained,
  retention: Retention,
): Promise<Batch | undefined> {
  const pruning = prunings[kind];
  const { done, needed, isReady } = pruning;
  const { rows } = await sql<Batch>`
    select r.run_id as "runId", b.start as from, b.stop as to, b.stop = r.rows_staged as "isLast",
      array(
        select row_number from (${needed}) each where row_number > b.start and row_number <= b.stop
      ) as needed
    from runs r
    cross join lateral (select ${done} = r.rows_staged as "isSecond") pass
    cross join lateral (
      select case when "isSecond" then 0 else ${done} end as start,
        case when "isSecond" then r.rows_staged else least(r.rows_staged, ${done} + ${rowsPerBatch}) end as stop
    ) b
    where ${isUnpruned(pruning, retention)} and ${isReady(sql`false`)}
      and (not "isSecond" or not exists (${needed}))
    order by r.created_at
    limit 1
    for no key update of r skip locked
  `.execute(transaction);
  return rows[0];
}

/** SQL value of `cells_left` or `rows_left` after a batch. */
function leftAfter(left: string, { from, needed }: Batch): RawBuilder<boolean> {
  return sql`(${from > 0} and ${sql.ref(left)}) or ${needed.length > 0}`;
}

/** Clears rows, which keep number, contact and outcome. */
async function clearRows(transaction: Transaction<Tables>, batch: Batch): Promise<number> {
  const { runId, from, to, needed } = batch;
  const cleared = await sql`
    update run_rows l set ${clearPersonalData}
    where run_id = ${runId} and row_number > ${from} and row_number <= ${to} and row_number <> all (${needed}::int[])
      and (${hasCells} or row_number > (select rows_pruned from runs where run_id = ${runId}))
  `.execute(transaction);
  await sql`
    update runs set rows_pruned = greatest(rows_pruned, ${to}), cells_left = ${leftAfter('cells_left', batch)}
    where run_id = ${runId}
  `.execute(transaction);
  return Number(cleared.numAffectedRows);
}

/**
 * Removes rows. The run keeps the number of rows by outcome. Rows that are still needed lose their cells.
 */
async function removeRows(transaction: Transaction<Tables>, batch: Batch): Promise<number> {
  const { runId, from, to, isLast, needed } = batch;
  await sql`
    update runs
    set rows_dropped = greatest(rows_dropped, ${to}), rows_pruned = greatest(rows_pruned, ${to}),
      rows_left = ${leftAfter('rows_left', batch)}, cells_left = cells_left and not ${isLast},
      outcomes = coalesce(outcomes, (
        select jsonb_object_agg(outcome, rows) from (${outcomesOfRows(runId)}) counted))
    where run_id = ${runId}
  `.execute(transaction);
  await sql`
    update run_rows set ${clearPersonalData} where run_id = ${runId} and row_number = any (${needed}::int[])
  `.execute(transaction);
  const removed = await sql`
    delete from run_rows
    where run_id = ${runId} and row_number > ${from} and row_number <= ${to} and row_number <> all (${needed}::int[])
  `.execute(transaction);
  // Positions have gaps, so the last ones can be beyond the number of rows.
  await sql`
    delete from run_people where run_id = ${runId} and position >= ${from} and (${isLast} or position < ${to})
  `.execute(transaction);
  return Number(removed.numAffectedRows);
}
