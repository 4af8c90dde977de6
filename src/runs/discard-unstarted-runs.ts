import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { discardStagedRows } from './planning/discard-plan.ts';

/**
 * Removes runs that a schedule has recorded but whose workflows it cannot start. Nothing was planned, approved or paid
 * for them. Runs that have begun stay. The next time of the schedule begins the removed runs anew.
 *
 * @param asOf the scheduled time: runs of an earlier time stay
 */
export async function discardUnstartedRuns(
  warehouse: Warehouse,
  { runIds, asOf }: { readonly runIds: readonly string[]; readonly asOf: Date },
): Promise<void> {
  const { rows } = await sql<{ run_id: string }>`
    select run_id from runs
    where run_id = any(${runIds}::text[]) and as_of = ${asOf} and status = 'ingesting' and approved_at is null
  `.execute(warehouse.database);
  for (const { run_id: runId } of rows) {
    await discardStagedRows(warehouse, runId);
    await warehouse.database
      .deleteFrom('runs')
      .where('run_id', '=', runId)
      .where('status', '=', 'ingesting')
      .execute();
  }
}
