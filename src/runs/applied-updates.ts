import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';

/** Id of an update of a run's workflow; undefined: a command or the workflow itself acts. */
export type UpdateId = string | undefined;

/** SQL condition on `runs`: the update has had no effect yet. Temporal sends it again after a reset. */
export function isNewUpdate(updateId: UpdateId): RawBuilder<boolean> {
  return sql`not coalesce(${updateId ?? null}::text = any(applied_updates), false)`;
}

/** Value of `applied_updates` after the update. */
export function withUpdate(updateId: UpdateId): RawBuilder<string[]> {
  return sql`applied_updates || array_remove(array[${updateId ?? null}::text], null)`;
}

/** Records that an update takes effect. @returns false: it took effect earlier, and must have no other */
export async function recordUpdate(
  transaction: Transaction<Tables>,
  runId: string,
  updateId: UpdateId,
): Promise<boolean> {
  const recorded = await sql`
    update runs set applied_updates = ${withUpdate(updateId)} where run_id = ${runId} and ${isNewUpdate(updateId)}
  `.execute(transaction);
  return recorded.numAffectedRows === 1n;
}
