import type { Warehouse } from '../db/database.ts';
import { anyValue } from '../db/expressions.ts';
import { discardStagedRows } from './planning/discard-plan.ts';

/**
 * Removes runs that a schedule has recorded but whose workflows it cannot start. Nothing was planned or paid for
 * them. Runs that have begun stay. The next time of the schedule begins the removed runs anew.
 *
 * @param asOf the scheduled time: runs of an earlier time stay
 */
export async function discardUnstartedRuns(
  warehouse: Warehouse,
  { runIds, asOf }: { readonly runIds: readonly string[]; readonly asOf: Date },
): Promise<void> {
  const unstarted = await warehouse.database
    .selectFrom('runs')
    .select('run_id')
    .where('run_id', '=', anyValue(runIds))
    .where('as_of', '=', asOf)
    .where('status', '=', 'ingesting')
    .where('plan', 'is', null)
    .execute();
  for (const { run_id: runId } of unstarted) {
    await discardStagedRows(warehouse, runId);
    await warehouse.database
      .deleteFrom('runs')
      .where('run_id', '=', runId)
      .where('status', '=', 'ingesting')
      .execute();
  }
}
