import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { anyOf } from '../db/one-of.ts';
import { freeStatuses } from '../domain/money/attempt-status.ts';
import { filledNote } from '../domain/runs/outcome.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';

/**
 * Reopens rows whose only call is unknown, if the run has `--on-unknown retry`. The unknown attempt keeps its
 * reservation and its claims.
 *
 * Three kinds of rows stay unknown: rows with two calls, rows whose attempt the operator has decided, and rows of
 * erased people, which have no identifiers left.
 *
 * @param rows query of row numbers
 * @returns the reopened rows
 */
export async function reopenUnknown(
  warehouse: Warehouse,
  { runId, options }: { readonly runId: string; readonly options: Pick<RunOptions, 'onUnknown'> },
  rows: RawBuilder<unknown>,
): Promise<number[]> {
  if (options.onUnknown !== 'retry') return [];
  const reopened = await sql<{ row_number: number }>`
    update run_rows r set outcome = null, reason = case when r.filled then ${filledNote}::text end
    where r.run_id = ${runId} and r.row_number in (${rows}) and r.outcome = 'unknown'
      and r.keys <> '{}'
      and (
        select count(*) = 1 and bool_and(a.status = 'unknown')
        from attempt_people p
        join attempts a using (attempt_id)
        where p.run_id = r.run_id
          and p.row_number = r.row_number
          and a.status not in (${anyOf(freeStatuses)})
      )
    returning r.row_number
  `.execute(warehouse.database);
  return reopened.rows.map((row) => row.row_number);
}
