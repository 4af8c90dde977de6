import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Warehouse } from '../db/database.ts';
import { outcomesOfRows } from '../db/run-states.ts';
import { isNewerThanOldest, oldestWithCells } from './held-runs.ts';
import { isClosedRun, isOldRun } from './old-runs.ts';
import { clearPersonalData } from './suppressions.ts';
import type { Retention } from '../domain/runs/retention.ts';

/** `staging` clears the personal data of rows, `rows` removes the rows. */
type RowsRetained = 'staging' | 'rows';

/** Rows of a run after `from`, up to `to`. */
interface Batch {
  readonly runId: string;
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

interface RowsPruning {
  /** The column of `runs` that has the progress. */
  readonly done: RawBuilder<number>;
  /** Condition: the data of a run `r` is no longer needed when the runs `o` with this condition have no cells. */
  readonly isReady: (loses: RawBuilder<boolean>) => RawBuilder<boolean>;
  readonly prune: (transaction: Transaction<Tables>, batch: Batch) => Promise<void>;
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

/** Condition: a pruning by these times clears or removes the rows of a run `o`, unless an older run keeps its cells. */
export const losesCells = ({ staging, rows }: Retention): RawBuilder<boolean> => sql`coalesce(
  ${isClosedRun('o')} and (${isOldRun(staging, 'o')} or ${isOldRun(rows, 'o')}), false)`;

const prunings: Readonly<Record<RowsRetained, RowsPruning>> = {
  staging: { done: sql`r.rows_pruned`, isReady: () => isClosedRun(), prune: clearRows },
  rows: {
    done: sql`r.rows_dropped`,
    isReady: (loses) => sql`(${isClosedRun()} and ${hasNoOlderCells(loses)})`,
    prune: removeRows,
  },
};

/** The runs `r` whose rows are older than a retention and are not pruned. */
const oldRuns = ({ done }: RowsPruning, seconds: number | undefined): RawBuilder<unknown> => sql`
  from runs r
  where ${done} < r.rows_staged and r.status <> 'planned' and ${isOldRun(seconds)}`;

/** Rows of ended runs. */
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
  const { rows } = await sql<PrunedRows & { readonly keptRuns: string[] }>`
    select count(*) filter (where ready)::int as runs,
      coalesce(sum(rows) filter (where ready), 0)::float8 as rows,
      coalesce(array_agg(run_id) filter (where not ready), '{}') as "keptRuns"
    from (
      select r.run_id, r.rows_staged - ${pruning.done} as rows, ${pruning.isReady(losesCells(retention))} as ready
      ${oldRuns(pruning, retention[kind])}
    ) old
  `.execute(database);
  const { keptRuns, ...pruned } = rows[0]!;
  return { pruned, keptRuns };
}

/** Prunes rows that are older than a retention, run after run. @param signal ends it between two batches */
export async function pruneRows(
  { database }: Warehouse,
  kind: RowsRetained,
  seconds: number | undefined,
  signal: AbortSignal,
): Promise<PrunedRows> {
  const { prune } = prunings[kind];
  const runs = new Set<string>();
  let rows = 0;
  while (!signal.aborted) {
    const batch = await database.transaction().execute(async (transaction) => {
      const next = await nextBatch(transaction, kind, seconds);
      if (next) await prune(transaction, next);
      return next;
    });
    if (!batch) break;
    runs.add(batch.runId);
    rows += batch.to - batch.from;
  }
  return { runs: runs.size, rows };
}

async function nextBatch(
  transaction: Transaction<Tables>,
  kind: RowsRetained,
  seconds: number | undefined,
): Promise<Batch | undefined> {
  const pruning = prunings[kind];
  const { done, isReady } = pruning;
  const { rows } = await sql<Batch>`
    select r.run_id as "runId", ${done} as from, least(r.rows_staged, ${done} + ${rowsPerBatch})::int as to,
      ${done} + ${rowsPerBatch} >= r.rows_staged as "isLast"
    ${oldRuns(pruning, seconds)} and ${isReady(sql`false`)}
    order by r.created_at
    limit 1
    for no key update of r skip locked
  `.execute(transaction);
  return rows[0];
}

/** Clears rows, which keep number, contact and outcome. */
async function clearRows(transaction: Transaction<Tables>, { runId, from, to }: Batch): Promise<void> {
  await sql`
    update run_rows set ${clearPersonalData}
    where run_id = ${runId} and row_number > ${from} and row_number <= ${to}
  `.execute(transaction);
  await transaction.updateTable('runs').set({ rows_pruned: to }).where('run_id', '=', runId).execute();
}

/**
 * Removes rows. The run keeps the number of rows by outcome. The record of a contact keeps the outcome of its row,
 * which says whether a call asked for the contact.
 */
async function removeRows(
  transaction: Transaction<Tables>,
  { runId, from, to, isLast }: Batch,
): Promise<void> {
  await sql`
    update runs
    set rows_dropped = ${to}, rows_pruned = greatest(rows_pruned, ${to}),
      outcomes = coalesce(outcomes, (
        select jsonb_object_agg(outcome, rows) from (${outcomesOfRows(runId)}) counted))
    where run_id = ${runId}
  `.execute(transaction);
  // Not a join: PostgreSQL compared each record of the run with each row.
  await sql`
    update contact_records k
    set outcome = (select r.outcome from run_rows r where r.run_id = k.run_id and r.row_number = k.row_number)
    where k.run_id = ${runId} and k.row_number > ${from} and k.row_number <= ${to}
  `.execute(transaction);
  await sql`
    delete from run_rows where run_id = ${runId} and row_number > ${from} and row_number <= ${to}
  `.execute(transaction);
  // Positions have gaps, so the last ones can be beyond the number of rows.
  await sql`
    delete from run_people where run_id = ${runId} and position >= ${from} and (${isLast} or position < ${to})
  `.execute(transaction);
}
