import { markUnknown } from '../ledger/close-attempt.ts';
import type { Warehouse } from '../db/database.ts';
import { endRun } from './runs.ts';

/**
 * Ends a run that has no workflow any more. Its open calls may have been sent: they become `unknown`. People whom the
 * run did not ask for become `cancelled`.
 */
export async function endAbandonedRun(warehouse: Warehouse, runId: string): Promise<void> {
  const left = await warehouse.database
    .selectFrom('attempts')
    .select('attempt_id')
    .where('run_id', '=', runId)
    .where('status', '=', 'admitted')
    .execute();
  for (const { attempt_id: attemptId } of left)
    await markUnknown(warehouse, attemptId, 'the run was cancelled before this call was recorded');
  await endRun(warehouse, runId, 'cancelled', { outcome: 'cancelled', reason: 'the run was cancelled' });
}
