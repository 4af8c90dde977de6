import { sql } from 'kysely';
import type { RunStatus } from '../contract.ts';

const finalStatuses: readonly RunStatus[] = ['planned', 'finished', 'cancelled', 'failed'];

/** Whether a run keeps this status: nothing is begun or changed in it any more. */
export function isFinal(status: RunStatus): boolean {
  return finalStatuses.includes(status);
}

/**
 * In SQL, over `runs`: the run goes on, or waits for somebody. Word for word the condition of the index `runs_one_unfinished`,
 * which PostgreSQL takes only so.
 */
export const isUnfinished = sql<boolean>`status not in ('planned', 'finished', 'cancelled', 'failed')`;

/** Begins the key of a run that only looks at an export: it plans, or reads who is in it, and never spends. */
export const planKeyPrefix = 'plan ';

/** In SQL, over `runs`: one that may spend. */
export const maySpend = sql<boolean>`run_key not like ${sql.lit(`${planKeyPrefix}%`)}`;
