import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { discardStagedRows } from './planning/discard-plan.ts';

/**
 * Removes runs that one time of a schedule recorded and whose workflows it will not start. Nothing was planned,
 * approved or paid for them; runs that have begun are left alone. The next time of the schedule begins them anew.
 *
 * @param asOf the time of the schedule: runs that it only found are of an earlier one
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
    await sql`delete from runs where run_id = ${runId} and status = 'ingesting'`.execute(warehouse.database);
  }
}
