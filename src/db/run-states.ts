import { sql, type RawBuilder } from 'kysely';
import { emptyBudget } from '../contract/pause-reasons.ts';
import { transitions, type RunEvent } from '../contract/run-transitions.ts';
import { isFinal, runStatuses, type RunStatus } from '../contract/run-statuses.ts';
import { oneOf } from './one-of.ts';

export const allStatuses = Object.keys(runStatuses) as readonly RunStatus[];

const finalStatuses = allStatuses.filter(isFinal);

/**
 * SQL condition on `runs`: the run has not ended. PostgreSQL uses the index `runs_one_unfinished` only for a condition
 * with the same text.
 */
export const unfinishedText = `status not in (${oneOf(finalStatuses)})`;
export const isUnfinished = sql.raw<boolean>(unfinishedText);

/** SQL condition on `runs`: an event takes effect (`transitions`, `stateOf`). */
export function isPossible(event: RunEvent): RawBuilder<boolean> {
  return sql<boolean>`(
    case when status = 'paused' and pause_reason ->> 'type' = ${emptyBudget} then 'waiting_for_budget' else status end
    = any(${transitions[event].from}::text[]))`;
}

/** Prefix of the key of a run that only plans or reads an export, and never spends. */
export const planKeyPrefix = 'plan ';

/** SQL condition on `runs`: the run may spend. */
export const maySpend = sql<boolean>`run_key not like ${sql.lit(`${planKeyPrefix}%`)}`;

/** The reason of a row `r` that gets an outcome. A note stays, such as that its contact was filled without a call. */
export const withNote = (reason: RawBuilder<unknown>) => sql<string>`concat_ws('; ', ${reason}, r.reason)`;

/** Query of the number of rows of a run by outcome; a row without an outcome is `open`. */
export function outcomesOfRows(runId: string): RawBuilder<unknown> {
  return sql`
    select coalesce(outcome, 'open') as outcome, count(*)::int as rows
    from run_rows
    where run_id = ${runId}
    group by 1`;
}
