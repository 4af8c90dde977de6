import { sql, type RawBuilder } from 'kysely';
import { emptyBudget } from '../contract/pause-reasons.ts';
import {
  transitions,
  type RunEvent,
  isFinal,
  runStatuses,
  type RunStatus,
} from '../contract/run-transitions.ts';
import { oneOf } from './expressions.ts';

export const allStatuses = Object.keys(runStatuses) as readonly RunStatus[];

const finalStatuses = allStatuses.filter(isFinal);

/**
 * SQL condition on `runs`: the run has not ended. PostgreSQL uses the index `runs_one_unfinished` only for a condition
 * with the same text.
 */
export const unfinishedText = `status not in (${oneOf(finalStatuses)})`;
export const isUnfinished = sql.raw<boolean>(unfinishedText);

/** SQL condition on `runs`: an event takes effect (`transitions`). */
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

/**
 * SQL condition: the rows of a run say what the CRM had, because the export was read to its end and is neither refused,
 * nor undone, nor only planned. @param alias alias of the run
 */
export function isExport(alias: string): string {
  return `(${alias}.ingested_at is not null and ${alias}.undone_at is null and ${alias}.status <> 'failed'
      and ${alias}.run_key not like '${planKeyPrefix}%')`;
}

/**
 * SQL: the place of a run's export among the exports of its source; the greatest is the newest. The scheduled time
 * decides, because a backfill reads the export of a missed time after newer exports. @param alias alias of the run
 */
export function exportOrder(alias: string): string {
  return `(${alias}.as_of, ${alias}.created_at, ${alias}.run_id)`;
}

/**
 * SQL: the order of the rows of one record in an export. The first row stands for the record, and its cells identify
 * the contact. @param alias alias of the row
 */
export function recordOrder(alias: string): string {
  return `${alias}.record_row is not null, ${alias}.outcome is not distinct from 'no_identifier', ${alias}.row_number`;
}
