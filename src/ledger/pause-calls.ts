import { sql, type Kysely } from 'kysely';
import type { PauseReason, PauseReasonType } from '../contract/pause-reasons.ts';
import type { Tables } from '../db/schema.ts';

const emptyBudget: PauseReasonType = 'budget.empty';

/**
 * Pauses a run: admission reads its status, so no worker sends another call. A run that is cancelled or that a person
 * must resume keeps its status and reason.
 */
export async function pauseCalls(
  database: Kysely<Tables>,
  runId: string,
  pauseReason: PauseReason,
): Promise<void> {
  await sql`
    update runs set status = 'paused', pause_reason = ${JSON.stringify(pauseReason)}::jsonb
    where run_id = ${runId}
      and (status = 'running' or (status = 'paused' and pause_reason ->> 'type' = ${emptyBudget}))
  `.execute(database);
}
