import { sql, type RawBuilder } from 'kysely';
import { anyOf } from '../db/one-of.ts';
import { maySpend } from '../db/run-states.ts';
import { holdingStatuses } from '../domain/money/attempt-status.ts';

/** The time before which data is removed; null without a retention. Not `clock_timestamp()`, which no index serves. */
export function before(seconds: number | undefined): RawBuilder<Date | null> {
  return sql`(now() - make_interval(secs => ${seconds ?? null}::float8))`;
}

/** A plan without approval deletes its rows when it ends. If it was killed, its rows are removed after a day. */
const abandonedPlan = sql`(
  r.finished_at is null and not ${maySpend} and r.created_at < clock_timestamp() - interval '1 day'
)`;

/** Condition: a run `r` ended so long ago. */
export function isOldRun(seconds: number | undefined): RawBuilder<boolean> {
  return sql`((r.finished_at < ${before(seconds)}) or (${abandonedPlan} and r.created_at < ${before(seconds)}))`;
}

/**
 * Condition: a run `r` is closed. Late results are assigned to contacts by the rows' data, so the rows stay until every
 * call has its cost.
 */
export const isClosedRun = sql<boolean>`
  not exists (select 1 from attempts o where o.run_id = r.run_id and o.status in (${anyOf(holdingStatuses)}))
  and not exists (select 1 from webhook_deliveries w where w.run_id = r.run_id and w.status = 'received')`;
