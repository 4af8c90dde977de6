import { sql } from 'kysely';
import { runStatuses, type RunStatus } from '../contract/run-statuses.ts';
import { oneOf } from './one-of.ts';

/** Every status of a run once. */
export const allStatuses = Object.keys(runStatuses) as readonly RunStatus[];

const finalStatuses = allStatuses.filter(isFinal);

/** Whether a run keeps this status: nothing is begun or changed in it any more. */
export function isFinal(status: RunStatus): boolean {
  return runStatuses[status] === 'final';
}

/**
 * In SQL, over `runs`: the run continues, or waits for a person. The index `runs_one_unfinished` has the same text,
 * without which PostgreSQL would not use it.
 */
export const unfinishedText = `status not in (${oneOf(finalStatuses)})`;
export const isUnfinished = sql.raw<boolean>(unfinishedText);

/** Begins the key of a run that only reads an export: it plans, or reads who is in it, and never spends. */
export const planKeyPrefix = 'plan ';

/** In SQL, over `runs`: one that may spend. */
export const maySpend = sql<boolean>`run_key not like ${sql.lit(`${planKeyPrefix}%`)}`;
