import { sql } from 'kysely';
import { hasGaps } from '../ledger/late-credits.ts';
import type { LateResultsStatus } from '../contract/late-results-status.ts';
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
    awaited: number;
    expired: number;
    until: Date | null;
    now: Date;
    poll: Date | null;
    next: Date | null;
  }>`
    select count(*) filter (where awaits_still)::int as awaited,
      count(*) filter (where not awaits_still)::int as expired,
      max(awaited_until) filter (where awaits_still) as until,
      now,
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
      from attempts a where run_id = ${runId} and (status = 'awaiting' or (status = 'unknown' and ${hasGaps}))
    ) a on true
    group by now
  `.execute(warehouse.database);
  const deliveries = await sql<
    Pick<LateResultsStatus, 'arrived' | 'polled' | 'late' | 'duplicate' | 'quarantined' | 'waiting'>
  >`
    select count(*) filter (where status = 'applied')::int as arrived,
      count(*) filter (where status = 'applied' and origin = 'poll')::int as polled,
      count(*) filter (where status = 'applied' and late)::int as late,
      count(*) filter (where status = 'duplicate')::int as duplicate,
      count(*) filter (where status = 'quarantined')::int as quarantined,
      count(*) filter (where status = 'received')::int as waiting
    from webhook_deliveries where run_id = ${runId}
  `.execute(warehouse.database);
  const { awaited, expired, until, now, poll, next } = attempts.rows[0]!;
  return {
    awaited,
    expired,
    ...deliveries.rows[0]!,
    until: until?.toISOString() ?? null,
    readAt: now.toISOString(),
    nextPollAt: poll?.toISOString() ?? null,
    nextSyncAt: next?.toISOString() ?? null,
  };
}
