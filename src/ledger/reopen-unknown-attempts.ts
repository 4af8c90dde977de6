import { anyOf } from '../db/one-of.ts';
import { freeStatuses } from '../domain/money/attempt-status.ts';
import { sql } from 'kysely';
import { peoplePerCall } from '../contract/batch-sizes.ts';
import type { Warehouse } from '../db/database.ts';

/**
 * Reopens rows whose only call is unknown, for runs with `--on-unknown retry`. The unknown attempt keeps its
 * reservation and its claims.
 *
 * Three kinds of rows stay unknown: rows with two calls, rows whose attempt the operator has decided, and rows of
 * erased people, which have no identifiers left.
 *
 * @returns the reopened rows
 */
export async function reopenUnknown(
  warehouse: Warehouse,
  runId: string,
  rowNumbers: readonly number[],
): Promise<number[]> {
  const reopened = await sql<{ row_number: number }>`
    update run_rows r set outcome = null, reason = null
    where r.run_id = ${runId} and r.row_number = any(${rowNumbers}::int[]) and r.outcome = 'unknown'
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

/** Reopens the rows of one batch, as `reopenUnknown` does. @param batch from 1 within the run */
export async function reopenBatch(warehouse: Warehouse, runId: string, batch: number): Promise<void> {
  const people = await warehouse.database
    .selectFrom('run_people')
    .select('row_number')
    .where('run_id', '=', runId)
    .where('position', '>=', (batch - 1) * peoplePerCall)
    .where('position', '<', batch * peoplePerCall)
    .execute();
  await reopenUnknown(
    warehouse,
    runId,
    people.map((row) => row.row_number),
  );
}
