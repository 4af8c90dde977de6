import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { holdingStatuses } from '../domain/money/attempt-status.ts';
import { anyOf } from '../db/expressions.ts';
import { maySpend } from '../db/run-states.ts';

/** A run with data that is older than its retention, and why the data is still needed. */
export interface HeldRun {
  readonly run_id: string;
  readonly has_ended: boolean;
  /** Calls that wait for a decision about their cost. */
  readonly unknown_calls: number;
  readonly awaiting_calls: number;
  readonly unread_deliveries: number;
}

/** Says why runs are held, the oldest first. */
export async function describeHeld(database: Kysely<Tables>, runIds: readonly string[]): Promise<HeldRun[]> {
  if (runIds.length === 0) return [];
  const { rows } = await sql<HeldRun>`
    select r.run_id, r.finished_at is not null as has_ended,
      (select count(*)::int from attempts where run_id = r.run_id and status = 'unknown') as unknown_calls,
      (select count(*)::int from attempts where run_id = r.run_id and status = 'awaiting') as awaiting_calls,
      (select count(*)::int from webhook_deliveries where run_id = r.run_id and status = 'received')
        as unread_deliveries
    from runs r
    where r.run_id = any(${runIds}::text[])
    order by r.created_at, r.run_id
  `.execute(database);
  return rows;
}

/** The time before which data is removed; null without a retention. Not `clock_timestamp()`, which no index serves. */
export function before(seconds: number | undefined): RawBuilder<Date | null> {
  return sql`(now() - make_interval(secs => ${seconds ?? null}::float8))`;
}

/**
 * Condition: a run `r` ended so long ago. A plan without approval deletes its rows when it ends; if it was killed, its
 * rows are removed after a day.
 */
export function isOldRun(seconds: number | undefined): RawBuilder<boolean> {
  const isAbandonedPlan = sql`(
    r.finished_at is null and not ${maySpend} and r.created_at < clock_timestamp() - interval '1 day')`;
  return sql`((r.finished_at < ${before(seconds)}) or (${isAbandonedPlan} and r.created_at < ${before(seconds)}))`;
}

const soonDecided = holdingStatuses.filter((status) => status !== 'unknown');

/**
 * Condition: a call of a run `r` awaits results, or a delivery waits to be applied. A call of unknown cost holds no
 * rows: it can wait for its decision for ever, and the decision is about money alone.
 */
export function isBusyRun(): RawBuilder<boolean> {
  return sql`(
    exists (select 1 from attempts a where a.run_id = r.run_id and a.status in (${anyOf(soonDecided)}))
    or exists (select 1 from webhook_deliveries w where w.run_id = r.run_id and w.status = 'received'))`;
}
