import { sql } from 'kysely';
import { markUnknown } from '../ledger/close-attempt.ts';
import type { Warehouse } from '../db/database.ts';
import { endRun } from './runs.ts';

/**
 * Ends a run that no workflow looks after any more. Calls that it left open may have been sent: they become unknown,
 * and everybody who was not asked for becomes `cancelled`.
 */
export async function endAbandonedRun(warehouse: Warehouse, runId: string): Promise<void> {
  const left = await sql<{ attempt_id: string }>`
    select attempt_id from attempts where run_id = ${runId} and status = 'admitted'
  `.execute(warehouse.database);
  for (const { attempt_id: attemptId } of left.rows)
    await markUnknown(warehouse, attemptId, 'the run was cancelled before this call was recorded');
  await endRun(warehouse, runId, 'cancelled', { outcome: 'cancelled', reason: 'the run was cancelled' });
}
