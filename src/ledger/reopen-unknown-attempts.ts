import { anyOf } from '../db/one-of.ts';
import { freeStatuses } from '../domain/money/attempt-status.ts';
import { sql } from 'kysely';
import { peoplePerCall } from '../contract.ts';
import type { Warehouse } from '../db/database.ts';

/**
 * Lets people whose call is unknown be asked for again, if they were asked for once: for runs whose owner pays for
 * both. The unknown call keeps its reservation and its claims, and waits for its answer or for the operator as ever.
 *
 * @returns their rows; whoever was asked for twice stays unknown, and so does whose call the operator has decided:
 *   those are for the next run. And so does who was erased: there is nothing to ask with
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
      and (select count(*) = 1 and bool_and(a.status = 'unknown') from attempt_people p join attempts a using (attempt_id)
        where p.run_id = r.run_id and p.row_number = r.row_number and a.status not in (${anyOf(freeStatuses)}))
    returning r.row_number
  `.execute(warehouse.database);
  return reopened.rows.map((row) => row.row_number);
}

/** The same for a whole batch, from 1 within the run. */
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
