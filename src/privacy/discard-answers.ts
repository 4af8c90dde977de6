import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { deleteLookups } from '../people/known/lookup-history.ts';
import { lockSuppressionsExclusive } from '../suppression/suppression-list.ts';

/** What `discardAnswers` has removed. */
export interface DiscardedAnswers {
  readonly observations: number;
  /** Identity keys of the lookup history. */
  readonly lookupKeys: number;
}

/**
 * Removes what the answers and late results of an undone run said, with their bodies and the lookups: the next run asks
 * for its people, and pays for them, again. The undo can no longer be reverted.
 *
 * @throws Error if the run is not undone: another command may have reverted the undo meanwhile
 */
export async function discardAnswers({ database }: Warehouse, runId: string): Promise<DiscardedAnswers> {
  return database.transaction().execute(async (transaction) => {
    await lockSuppressionsExclusive(transaction);
    const marked = await sql`
      update runs set answers_discarded_at = clock_timestamp() where run_id = ${runId} and undone_at is not null
    `.execute(transaction);
    if (!marked.numAffectedRows) throw new Error(`run ${runId} is not undone`);
    const { numAffectedRows: observations = 0n } = await sql`
      delete from observation_log where run_id = ${runId}
    `.execute(transaction);
    await sql`
      delete from raw_answers b using attempts a where a.attempt_id = b.attempt_id and a.run_id = ${runId}
    `.execute(transaction);
    await sql`
      update webhook_deliveries set body = null where run_id = ${runId} and status <> 'received'
    `.execute(transaction);
    return { observations: Number(observations), lookupKeys: await deleteLookups(transaction, runId) };
  });
}
