import { sql } from 'kysely';
import type { LateResultsStatus } from '../contract/run-facts.ts';
import type { Warehouse } from '../db/database.ts';

/**
 * Reads the status of a run's late results.
 *
 * @param pollWaitMilliseconds time until the window has a slot for a poll: an earlier sync could make no due poll
 */
export async function readLateResultsStatus(
  warehouse: Warehouse,
  runId: string,
  pollWaitMilliseconds = 0,
): Promise<LateResultsStatus> {
  const attempts = await sql<{
    until: Date | null;
    now: Date;
    poll: Date | null;
    next: Date | null;
  }>`
    select max(awaited_until) filter (where awaits_still) as until, now,
      min(next_poll_at) filter (where status = 'awaiting') as poll,
      -- Without a poll to come, \`greatest\` would leave the present time.
      least(
        min(greatest(next_poll_at, now + make_interval(secs => ${pollWaitMilliseconds / 1_000})))
          filter (where awaits_still and next_poll_at is not null),
        min(awaited_until) filter (where awaits_still)
      ) as next
    from (select clock_timestamp() as now) clock
    left join lateral (
      select status, awaited_until, next_poll_at, status = 'awaiting' and awaited_until > now as awaits_still
      from attempts where run_id = ${runId} and status = 'awaiting'
    ) a on true
    group by now
  `.execute(warehouse.database);
  const figures = await sql<Omit<LateResultsStatus, 'until' | 'readAt' | 'nextPollAt' | 'nextSyncAt'>>`
    select awaited, expired, arrived, polled, late, duplicate, quarantined, waiting
    from run_late_results where run_id = ${runId}
  `.execute(warehouse.database);
  const { until, now, poll, next } = attempts.rows[0]!;
  return {
    ...figures.rows[0]!,
    until: until?.toISOString() ?? null,
    readAt: now.toISOString(),
    nextPollAt: poll?.toISOString() ?? null,
    nextSyncAt: next?.toISOString() ?? null,
  };
}
