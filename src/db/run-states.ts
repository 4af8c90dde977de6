import { sql, type RawBuilder } from 'kysely';
import { budgetEmptyReason } from '../contract/pause-reasons.ts';
import {
  runTransitions,
  type RunEvent,
  isFinal,
  runStatuses,
  type RunStatus,
} from '../contract/run-transitions.ts';
import { nameListText } from './expressions.ts';

export const allRunStatuses = Object.keys(runStatuses) as readonly RunStatus[];

const finalStatuses = allRunStatuses.filter(isFinal);

/** SQL condition on `runs`: not ended. The index `runs_one_unfinished` needs exactly this text. */
export const unfinishedCondition = `status not in (${nameListText(finalStatuses)})`;
export const isUnfinished = sql.raw<boolean>(unfinishedCondition);

/** SQL condition on `runs`: the current status allows this event (`runTransitions`). */
export function isEventAllowed(event: RunEvent): RawBuilder<boolean> {
  return sql<boolean>`(
    case
      when status = 'paused' and pause_reason ->> 'type' = ${budgetEmptyReason} then 'waiting_for_budget'
      else status
    end
    = any(${runTransitions[event].from}::text[]))`;
}

/** Prefix of the key of a run that only plans or reads an export and never spends credits. */
export const planKeyPrefix = 'plan ';

/** SQL condition on `runs`: the run may spend credits. */
export const maySpend = sql<boolean>`run_key not like ${sql.lit(`${planKeyPrefix}%`)}`;

/** SQL: the reason of a row `r` with a new outcome. An earlier note stays. */
export const withEarlierNote = (reason: RawBuilder<unknown>) =>
  sql<string>`concat_ws('; ', ${reason}, r.reason)`;

/** SQL condition: the run's rows are the content of the CRM: read to the end, not refused, undone or only planned. */
export function isCrmExport(alias: string): string {
  return `(${alias}.ingested_at is not null and ${alias}.undone_at is null and ${alias}.status <> 'failed'
      and ${alias}.run_key not like '${planKeyPrefix}%')`;
}

/** SQL sort key of exports of a source, the newest last: the scheduled time, because a backfill may read one late. */
export function exportSortKey(alias: string): string {
  return `(${alias}.as_of, ${alias}.created_at, ${alias}.run_id)`;
}

/** SQL sort order of the rows of one CRM record. The first row's cells identify the contact. */
export function recordSortKey(alias: string): string {
  return `${alias}.record_row is not null, ${alias}.outcome is not distinct from 'no_identifier', ${alias}.row_number`;
}
