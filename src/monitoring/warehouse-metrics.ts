import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import { peoplePerCall, peoplePerPage } from '../contract/batch-sizes.ts';
import { needOf } from '../contract/pause-reasons.ts';
import type { Warehouse } from '../db/database.ts';
import { anyOf } from '../db/one-of.ts';
import { allStatuses, isUnfinished, maySpend } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';
import { ineffectiveStatuses } from '../domain/late-results/delivery-kinds.ts';
import { askedStatuses, holdingStatuses } from '../domain/money/attempt-status.ts';
import { formatDuration } from '../domain/text/duration.ts';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { readPeriodBudgets } from '../ledger/credit-ledger.ts';
import { readReports } from '../ledger/rate-reports.ts';
import { bulkMatchScope, matchScope, ownFreeSlots, webhookResultScope } from '../ledger/rate-windows.ts';

/** Every metric of the warehouse. docs/observability.md has them too. */
const metrics = {
  enrich_database_up: { help: '1 if the database could be read, otherwise 0.', labels: [] },
  enrich_database_read_seconds: {
    help: 'Duration of reading the database, or of the wait for it.',
    labels: [],
  },
  enrich_credits: {
    help: 'Credits of all time: settled, reserved for calls in flight and awaited results, and held by unknown calls.',
    labels: ['state'],
  },
  enrich_attempts_open: { help: 'Bulk calls whose cost is not settled, by status.', labels: ['status'] },
  enrich_attempts_unknown_oldest_seconds: {
    help: 'Age of the oldest call that waits for a decision.',
    labels: [],
  },
  enrich_late_results: {
    help: 'Calls whose late results are awaited, or did not arrive by the deadline.',
    labels: ['state'],
  },
  enrich_budget_credits: {
    help: 'Credits of the current periods (UTC), settled and reserved.',
    labels: ['budget', 'state'],
  },
  enrich_budget_limit_credits: {
    help: 'The limits of the current periods; absent without a limit.',
    labels: ['budget'],
  },
  enrich_rate_window_slots: {
    help: 'Slots of a rate window, free and used, by our own count or the last report of the service.',
    labels: ['endpoint', 'window', 'counted_by', 'state'],
  },
  enrich_rate_pause_seconds: {
    help: 'Remaining pause after the service refused a call with 429.',
    labels: ['endpoint'],
  },
  enrich_inbox_deliveries: { help: 'Deliveries that wait to be applied.', labels: [] },
  enrich_inbox_oldest_seconds: { help: 'Time that the oldest waiting delivery has waited.', labels: [] },
  enrich_deliveries_quarantined: {
    help:
      'Deliveries that changed no contact: orphaned (their results go to no person of a recorded answer; their price ' +
      'counts) and quarantined (unreadable, of another call, or with an impossible price).',
    labels: ['status'],
  },
  enrich_runs: { help: 'Runs by status.', labels: ['status'] },
  enrich_runs_paused: {
    help: 'Paused runs, by the type of the pause reason, and what a person does: fix, decision or nothing.',
    labels: ['type', 'needs'],
  },
  enrich_last_run_finished_timestamp_seconds: {
    help: 'Time at which a run last finished; absent before the first.',
    labels: [],
  },
  enrich_scheduled_times_failed: {
    help: 'Times of schedules that failed without a run, of all time.',
    labels: [],
  },
  enrich_notifications_undelivered: {
    help: 'Notifications of the last day that are not delivered: waiting for a retry, or abandoned.',
    labels: [],
  },
  enrich_run_rows_staged: { help: 'Staged rows of unfinished runs.', labels: ['run'] },
  enrich_run_people: {
    help: 'People in the plan of unfinished runs: asked, and open.',
    labels: ['run', 'state'],
  },
  enrich_run_credits: {
    help: 'Credits of unfinished runs: settled, reserved, unknown.',
    labels: ['run', 'state'],
  },
  enrich_run_budget_limit_credits: { help: 'The limit of a run; absent without a limit.', labels: ['run'] },
  enrich_run_idle_seconds: {
    help: 'Time since a call of an unfinished run began or ended, or since a poll for its late results was due.',
    labels: ['run', 'status'],
  },
  enrich_run_preempted: {
    help: '1 while the run waits for batches of runs with a higher priority.',
    labels: ['run'],
  },
} as const satisfies Readonly<Record<string, { help: string; labels: readonly string[] }>>;

/** Scrapes within this time share one read of the database. */
const freshMilliseconds = 5_000;
/** Prometheus abandons a scrape after ten seconds and would also lose the metrics of the process. */
const patienceMilliseconds = 4_000;
/** Statements are cancelled after this time, to relieve a slow database. */
const statementMilliseconds = 3_000;
/** Each run has a set of series; `enrich_runs` counts all runs. */
const runsShown = 20;
/** The calls of a page. */
const newestCalls = peoplePerPage / peoplePerCall;

/**
 * Metrics of the warehouse, read at each scrape. Every process reports the same values: take the maximum over
 * processes, never the sum.
 */
export class WarehouseMetrics {
  readonly #warehouse: Warehouse;
  readonly #limits: AdmissionLimits;
  #last: { readonly text: Promise<string>; readonly at: number } | undefined;

  constructor(warehouse: Warehouse, limits: AdmissionLimits) {
    this.#warehouse = warehouse;
    this.#limits = limits;
  }

  /**
   * The metrics in Prometheus' text format. Without the database, or if it is slow, only `enrich_database_up
   * 0`.
   */
  async read(): Promise<string> {
    if (!this.#last || performance.now() - this.#last.at > freshMilliseconds)
      this.#last = { text: this.#readNow(), at: performance.now() };
    const ended = new AbortController();
    const patience = sleep(patienceMilliseconds, undefined, ended).catch(() => undefined);
    const text = await Promise.race([this.#last.text, patience]);
    ended.abort();
    return text ?? textOf(new Registry(), patienceMilliseconds / 1_000, false);
  }

  async #readNow(): Promise<string> {
    const begun = performance.now();
    const seconds = (): number => (performance.now() - begun) / 1_000;
    try {
      const registry = await readMetrics(this.#warehouse, this.#limits);
      return await textOf(registry, seconds(), true);
    } catch {
      // `enrich_database_up 0` reports the failure; the workers log the cause.
      return textOf(new Registry(), seconds(), false);
    }
  }
}

function textOf(registry: Registry, seconds: number, isUp: boolean): Promise<string> {
  const gauge = gaugesOf(registry);
  gauge('enrich_database_up').set(isUp ? 1 : 0);
  gauge('enrich_database_read_seconds').set(seconds);
  return registry.metrics();
}

type MakeGauge = (name: keyof typeof metrics) => Gauge;

function gaugesOf(registry: Registry): MakeGauge {
  return (name) =>
    new Gauge({ name, help: metrics[name].help, labelNames: metrics[name].labels, registers: [registry] });
}

/** Reads the metrics in one read-only transaction. A new registry for each scrape drops the series of ended runs. */
async function readMetrics(warehouse: Warehouse, limits: AdmissionLimits): Promise<Registry> {
  const registry = new Registry();
  const gauge = gaugesOf(registry);
  await warehouse.database
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      // A bitmap scan reads the rows of all calls of a run, which an index can count alone.
      await sql`
        select set_config('statement_timeout', ${String(statementMilliseconds)}, true),
          set_config('enable_bitmapscan', 'off', true)
      `.execute(transaction);
      await readCalls(transaction, gauge);
      await readBudgets(transaction, gauge, limits);
      await readWindows(transaction, gauge, limits);
      await readDeliveries(transaction, gauge);
      await readRuns(transaction, gauge);
      await readNotifications(transaction, gauge);
      await readUnfinishedRuns(transaction, gauge);
    });
  return registry;
}

/** The settled credits are the sum over the budgets of all months, because attempts are far more rows. */
async function readCalls(transaction: Transaction<Tables>, gauge: MakeGauge): Promise<void> {
  const settled = await sql<{ credits: number }>`
    select coalesce(sum(settled), 0)::float8 as credits from budgets where budget_id like 'month:%'
  `.execute(transaction);
  const { rows } = await sql<{
    status: string;
    attempts: number;
    credits: number;
    seconds: number;
    /** Calls whose late result did not come in time, or is due later. */
    expired: number;
    awaited: number;
  }>`
    select status, count(*)::int as attempts, sum(credits_reserved)::float8 as credits,
      extract(epoch from clock_timestamp() - min(admitted_at))::float8 as seconds,
      (count(*) filter (
        where awaits <> '{}' and (status = 'unknown' or awaited_until <= clock_timestamp())))::int as expired,
      (count(*) filter (where status = 'awaiting' and awaited_until > clock_timestamp()))::int as awaited
    from attempts
    where status in (${anyOf(holdingStatuses)})
    group by status
  `.execute(transaction);
  const open = new Map(rows.map((row) => [row.status, row]));
  const creditsOf = (status: string): number => open.get(status)?.credits ?? 0;
  const credits = gauge('enrich_credits');
  credits.set({ state: 'settled' }, settled.rows[0]!.credits);
  credits.set({ state: 'reserved' }, creditsOf('admitted') + creditsOf('awaiting'));
  credits.set({ state: 'unknown' }, creditsOf('unknown'));
  const attempts = gauge('enrich_attempts_open');
  for (const status of holdingStatuses) attempts.set({ status }, open.get(status)?.attempts ?? 0);
  gauge('enrich_attempts_unknown_oldest_seconds').set(open.get('unknown')?.seconds ?? 0);
  const late = gauge('enrich_late_results');
  for (const state of ['awaited', 'expired'] as const)
    late.set(
      { state },
      rows.reduce((sum, row) => sum + row[state], 0),
    );
}

async function readBudgets(
  transaction: Transaction<Tables>,
  gauge: MakeGauge,
  { budgets }: AdmissionLimits,
): Promise<void> {
  const used = gauge('enrich_budget_credits');
  const most = gauge('enrich_budget_limit_credits');
  for (const { period, settled, reserved, limit } of await readPeriodBudgets(transaction, budgets)) {
    used.set({ budget: period, state: 'settled' }, Number(settled));
    used.set({ budget: period, state: 'reserved' }, Number(reserved));
    if (limit !== null) most.set({ budget: period }, Number(limit));
  }
}

async function readWindows(
  transaction: Transaction<Tables>,
  gauge: MakeGauge,
  { service, rateLimits }: AdmissionLimits,
): Promise<void> {
  const slots = gauge('enrich_rate_window_slots');
  for (const scope of [bulkMatchScope, matchScope, webhookResultScope]) {
    const counted = {
      us: await ownFreeSlots(transaction, scope, rateLimits),
      service: await readReports(transaction, { service, scope }),
    };
    for (const [countedBy, windows] of Object.entries(counted))
      for (const { seconds, calls, free } of windows) {
        const labels = { endpoint: scope, window: formatDuration(seconds), counted_by: countedBy };
        slots.set({ ...labels, state: 'free' }, free);
        slots.set({ ...labels, state: 'used' }, calls - free);
      }
  }
  const pause = gauge('enrich_rate_pause_seconds');
  const { rows } = await sql<{ scope: string; seconds: number }>`
    select scope, coalesce(greatest(0, extract(epoch from paused_until - clock_timestamp())), 0)::float8 as seconds
    from rate_scopes
  `.execute(transaction);
  for (const { scope, seconds } of rows) pause.set({ endpoint: scope }, seconds);
}

async function readDeliveries(transaction: Transaction<Tables>, gauge: MakeGauge): Promise<void> {
  const inbox = await sql<{ deliveries: number; seconds: number }>`
    select count(*)::int as deliveries,
      coalesce(extract(epoch from clock_timestamp() - min(received_at)), 0)::float8 as seconds
    from webhook_deliveries
    where status = 'received'
  `.execute(transaction);
  gauge('enrich_inbox_deliveries').set(inbox.rows[0]!.deliveries);
  gauge('enrich_inbox_oldest_seconds').set(inbox.rows[0]!.seconds);
  const quarantined = gauge('enrich_deliveries_quarantined');
  for (const status of ineffectiveStatuses) quarantined.set({ status }, 0);
  const { rows } = await sql<{ status: string; deliveries: number }>`
    select status, count(*)::int as deliveries
    from webhook_deliveries
    where status in (${anyOf(ineffectiveStatuses)})
    group by status
  `.execute(transaction);
  for (const { status, deliveries } of rows) quarantined.set({ status }, deliveries);
}

/** `planned` has no series: `enrich plan` begins no run. */
const statusesOfRuns = allStatuses.filter((status) => status !== 'planned');

async function readRuns(transaction: Transaction<Tables>, gauge: MakeGauge): Promise<void> {
  const runs = gauge('enrich_runs');
  for (const status of statusesOfRuns) runs.set({ status }, 0);
  const paused = gauge('enrich_runs_paused');
  const { rows } = await sql<{ status: string; pauseReason: string | null; runs: number }>`
    select status, pause_reason->>'type' as "pauseReason", count(*)::int as runs
    from runs
    where ${maySpend}
    group by 1, 2
  `.execute(transaction);
  for (const { status, pauseReason, runs: count } of rows) {
    runs.inc({ status }, count);
    const type = pauseReason ?? 'run.paused';
    if (status === 'paused') paused.inc({ type, needs: needOf(type) }, count);
  }
  const last = await sql<{ seconds: number | null }>`
    select extract(epoch from max(finished_at))::float8 as seconds from runs where status = 'finished'
  `.execute(transaction);
  const finished = gauge('enrich_last_run_finished_timestamp_seconds');
  const { seconds } = last.rows[0]!;
  if (seconds === null) finished.remove();
  else finished.set(seconds);
}

async function readNotifications(transaction: Transaction<Tables>, gauge: MakeGauge): Promise<void> {
  const { rows } = await sql<{ failedTimes: number; undelivered: number }>`
    select (count(*) filter (where event = 'failed' and run_id is null))::int as "failedTimes",
      (count(*) filter (
        where failure is not null and occurred_at > clock_timestamp() - interval '1 day'))::int as undelivered
    from notifications
  `.execute(transaction);
  const { failedTimes, undelivered } = rows[0]!;
  gauge('enrich_scheduled_times_failed').set(failedTimes);
  gauge('enrich_notifications_undelivered').set(undelivered);
}

/**
 * A healthy run can make no calls for hours: after its pilot, or with an empty budget, it waits for late results. It is
 * idle only after its next poll is due.
 *
 * A run can have millions of calls. Its budget has their credits, and its open and newest calls show when it moved.
 */
async function readUnfinishedRuns(transaction: Transaction<Tables>, gauge: MakeGauge): Promise<void> {
  const { rows } = await sql<{
    run: string;
    status: string;
    rowsStaged: number;
    /** People in the plan; null before planning. */
    planned: number | null;
    /** People in the plan whose call was answered or may have been. */
    asked: number;
    settled: number;
    reserved: number;
    unknown: number;
    limit: number | null;
    /**
     * Since the export was read, the run was approved, a call began or ended, or a poll was due; 0 while late results
     * are awaited and no poll is due.
     */
    idleSeconds: number;
    /** Runs of a higher priority have waiting batches, so this run makes no calls; this is no fault. */
    isPreempted: boolean;
  }>`
    select r.run_id as run, r.status, r.rows_staged as "rowsStaged", (r.plan->>'people')::int as planned,
      a.asked, coalesce(b.settled, 0)::float8 as settled,
      (coalesce(b.reserved, 0) - held.unknown)::float8 as reserved,
      held.unknown::float8 as unknown, b.credits_limit::float8 as "limit",
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
  const staged = gauge('enrich_run_rows_staged');
  const people = gauge('enrich_run_people');
  const credits = gauge('enrich_run_credits');
  const most = gauge('enrich_run_budget_limit_credits');
  const idle = gauge('enrich_run_idle_seconds');
  const preempted = gauge('enrich_run_preempted');
  for (const row of rows) {
    const { run, status, limit, planned, asked } = row;
    staged.set({ run }, row.rowsStaged);
    idle.set({ run, status }, row.idleSeconds);
    preempted.set({ run }, Number(row.isPreempted));
    for (const state of ['settled', 'reserved', 'unknown'] as const) credits.set({ run, state }, row[state]);
    if (limit !== null) most.set({ run }, limit);
    if (planned === null) continue;
    people.set({ run, state: 'asked' }, asked);
    people.set({ run, state: 'open' }, Math.max(0, planned - asked));
  }
}
