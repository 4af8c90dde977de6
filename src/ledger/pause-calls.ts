import { sql, type Kysely } from 'kysely';
import type { PauseReason } from '../contract/pause-reasons.ts';
import { isPossible } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';

/**
 * Pauses a run: admission reads its status, so no worker sends another call. A run that is cancelled or that a person
 * must resume keeps its status and reason.
 *
 * @returns whether the run is now paused for this reason
 */
export async function pauseCalls(
  database: Kysely<Tables>,
  runId: string,
  pauseReason: PauseReason,
): Promise<boolean> {
  const paused = await sql`
    update runs set status = 'paused', pause_reason = ${JSON.stringify(pauseReason)}::jsonb
    where run_id = ${runId} and ${isPossible('pause_by_call')}
  `.execute(database);
  return paused.numAffectedRows === 1n;
}
