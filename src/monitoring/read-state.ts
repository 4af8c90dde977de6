import { peoplePerCall, peoplePerPage } from '../contract/batch-sizes.ts';
import { ineffectiveStatuses } from '../domain/late-results/delivery-status.ts';
import { anyOf } from '../db/one-of.ts';
import { askedStatuses, holdingStatuses } from '../domain/money/attempt-status.ts';
import { sql, type Transaction } from 'kysely';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { readPeriodBudgets } from '../ledger/credit-ledger.ts';
import { readReports } from '../ledger/rate-reports.ts';
import { bulkMatchScope, matchScope, ownFreeSlots, webhookResultScope } from '../ledger/rate-windows.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { Warehouse } from '../db/database.ts';
import { rowCount } from '../db/expressions.ts';
import { isUnfinished, maySpend } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';

/** The state of the warehouse at one moment, for metrics. Credits are decimals as text. */
export type State = Awaited<ReturnType<typeof readState>>;

/** Statements are cancelled after this time, to relieve a slow database. */
const statementMilliseconds = 3_000;
/** Each run has a set of series; `enrich_runs` counts all runs. */
const runsShown = 20;
/** The calls of a page. */
const newestCalls = peoplePerPage / peoplePerCall;

/** Reads the state in one read-only transaction. Each statement takes at most 3 s. */
export function readState(warehouse: Warehouse, limits: AdmissionLimits) {
  return warehouse.database
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      // A bitmap scan reads the rows of all calls of a run, which an index can count alone.
      await sql`
        select set_config('statement_timeout', ${String(statementMilliseconds)}, true),
          set_config('enable_bitmapscan', 'off', true)
      `.execute(transaction);
      return {
        settledTotal: await readSettled(transaction),
        budgets: await readPeriodBudgets(transaction, limits.budgets),
        windows: await readWindows(transaction, limits),
        pauses: await readPauses(transaction),
        openAttempts: await readOpenAttempts(transaction),
        ...(await readDeliveries(transaction)),
        ...(await readRuns(transaction)),
        undeliveredNotifications: await readUndelivered(transaction),
        failedScheduledTimes: await readFailedTimes(transaction),
        unfinished: await readUnfinished(transaction),
      };
    });
}

/** The credits of all months: the sum over their budgets, because attempts are far more rows. */
async function readSettled(transaction: Transaction<Tables>): Promise<string> {
  const { rows } = await sql<{ settled: string }>`
    select trim_scale(coalesce(sum(settled), 0))::text as settled
    from budgets
    where budget_id like 'month:%'
  `.execute(transaction);
  return rows[0]!.settled;
}

async function readWindows(transaction: Transaction<Tables>, { service, rateLimits }: AdmissionLimits) {
  const windows: (RateLimit & { scope: string; countedBy: 'us' | 'service'; free: number })[] = [];
  for (const scope of [bulkMatchScope, matchScope, webhookResultScope]) {
    for (const window of await ownFreeSlots(transaction, scope, rateLimits))
      windows.push({ ...window, scope, countedBy: 'us' });
    for (const window of await readReports(transaction, { service, scope }))
      windows.push({ ...window, scope, countedBy: 'service' });
  }
  return windows;
}

async function readPauses(transaction: Transaction<Tables>) {
  const { rows } = await sql<{ scope: string; seconds: number }>`
    select scope, coalesce(greatest(0, extract(epoch from paused_until - clock_timestamp())), 0)::float8 as seconds
    from rate_scopes
  `.execute(transaction);
  return rows;
}

/** Age of the oldest call in seconds, and calls whose late result is due later (`awaited`) or did not come in time. */
async function readOpenAttempts(transaction: Transaction<Tables>) {
  const { rows } = await sql<{
    status: string;
    attempts: number;
    credits: string;
    seconds: number;
    expired: number;
    awaited: number;
  }>`
    select status, count(*)::int as attempts, trim_scale(sum(credits_reserved))::text as credits,
      extract(epoch from clock_timestamp() - min(admitted_at))::float8 as seconds,
      (count(*) filter (
        where awaits <> '{}' and (status = 'unknown' or awaited_until <= clock_timestamp())))::int as expired,
      (count(*) filter (where status = 'awaiting' and awaited_until > clock_timestamp()))::int as awaited
    from attempts
    where status in (${anyOf(holdingStatuses)})
    group by status
  `.execute(transaction);
  return rows;
}

async function readDeliveries(transaction: Transaction<Tables>) {
  const inbox = await sql<{ deliveries: number; seconds: number }>`
    select count(*)::int as deliveries,
      coalesce(extract(epoch from clock_timestamp() - min(received_at)), 0)::float8 as seconds
    from webhook_deliveries
    where status = 'received'
  `.execute(transaction);
  const quarantinedDeliveries = await transaction
    .selectFrom('webhook_deliveries')
    .select(['status', rowCount.as('deliveries')])
    .where('status', 'in', ineffectiveStatuses)
    .groupBy('status')
    .execute();
  return { inbox: inbox.rows[0]!, quarantinedDeliveries };
}

/** `lastFinished` in seconds since the epoch; null before the first finished run. */
async function readRuns(transaction: Transaction<Tables>) {
  const runs = await sql<{ status: string; pauseReason: string | null; runs: number }>`
    select status, pause_reason->>'type' as "pauseReason", count(*)::int as runs
    from runs
    where ${maySpend}
    group by 1, 2
  `.execute(transaction);
  const last = await sql<{ seconds: number | null }>`
    select extract(epoch from max(finished_at))::float8 as seconds
    from runs
    where status = 'finished'
  `.execute(transaction);
  return { runs: runs.rows, lastFinished: last.rows[0]!.seconds };
}

/** Notifications of the last day that are not delivered. */
async function readUndelivered(transaction: Transaction<Tables>): Promise<number> {
  const { notifications } = await transaction
    .selectFrom('notifications')
    .select(rowCount.as('notifications'))
    .where('failure', 'is not', null)
    .where('occurred_at', '>', sql<Date>`clock_timestamp() - interval '1 day'`)
    .executeTakeFirstOrThrow();
  return notifications;
}

/** Times of schedules that failed without a run, of all time. */
async function readFailedTimes(transaction: Transaction<Tables>): Promise<number> {
  const { times } = await transaction
    .selectFrom('notifications')
    .select(rowCount.as('times'))
    .where('event', '=', 'failed')
    .where('run_id', 'is', null)
    .executeTakeFirstOrThrow();
  return times;
}

/**
 * A healthy run can make no calls for hours: after its pilot, or with an empty budget, it waits for late results. It is
 * idle only after its next poll is due.
 *
 * A run can have millions of calls. Its budget has their credits, and its open and newest calls show when it moved.
 */
async function readUnfinished(transaction: Transaction<Tables>) {
  const { rows } = await sql<{
    runId: string;
    status: string;
    rowsStaged: number;
    /** People in the plan; null before planning. */
    planned: number | null;
    /** People in the plan whose call was answered or may have been. */
    asked: number;
    settled: string;
    reserved: string;
    unknown: string;
    limit: string | null;
    /**
     * Since the export was read, the run was approved, a call began or ended, or a poll was due; 0 while late results
     * are awaited and no poll is due.
     */
    idleSeconds: number;
    /** Runs of a higher priority have waiting batches, so this run makes no calls; this is no fault. */
    isPreempted: boolean;
  }>`
    select r.run_id as "runId", r.status, r.rows_staged as "rowsStaged", (r.plan->>'people')::int as planned,
      a.asked, trim_scale(coalesce(b.settled, 0))::text as settled,
      trim_scale(coalesce(b.reserved, 0) - held.unknown)::text as reserved,
      trim_scale(held.unknown)::text as unknown, trim_scale(b.credits_limit)::text as "limit",
      greatest(0, extract(epoch from clock_timestamp() - greatest(
        r.created_at, r.ingested_at, r.approved_at, held.moved, answered.moved, newest.moved, held.due
      )))::float8 as "idleSeconds",
      exists (select from batches_before(r.options ->> 'priority')) as "isPreempted"
    from runs r
    left join budgets b on b.budget_id = 'run:' || r.run_id
    cross join lateral (
      select coalesce(sum(people), 0)::int as asked
      from attempts
      where run_id = r.run_id and status in (${anyOf(askedStatuses)})
    ) a
    cross join lateral (
      select coalesce(sum(credits_reserved) filter (where status = 'unknown'), 0) as unknown,
        max(greatest(admitted_at, answered_at, closed_at)) as moved,
        min(least(next_poll_at, awaited_until))
          filter (where status = 'awaiting' and awaited_until > clock_timestamp()) as due
      from attempts
      where run_id = r.run_id and status in (${anyOf(holdingStatuses)})
    ) held
    cross join lateral (
      select max(answered_at) as moved from attempts where run_id = r.run_id and answered_at is not null
    ) answered
    cross join lateral (
      select max(greatest(admitted_at, closed_at)) as moved
      from (
        select admitted_at, closed_at from attempts where run_id = r.run_id order by batch desc limit ${newestCalls}
      ) calls
    ) newest
    where ${isUnfinished} and ${maySpend}
    order by r.created_at desc
    limit ${runsShown}
  `.execute(transaction);
  return rows;
}
