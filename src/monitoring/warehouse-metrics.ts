import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import { peoplePerCall, peoplePerPage } from '../domain/runs/batching.ts';
import { operatorActionFor } from '../contract/pause-reasons.ts';
import type { Warehouse } from '../db/database.ts';
import { nameList } from '../db/expressions.ts';
import { allRunStatuses, isUnfinished, maySpend } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';
import { statusesOfLookups, statusesWithReservation } from '../domain/money/attempt-status.ts';
import { formatDuration } from '../domain/text/duration.ts';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { readPeriodBudgets } from '../ledger/credit-ledger.ts';
import { hasExpectedResults } from '../ledger/close-attempt.ts';
import { bulkMatchScope, matchScope, readRateWindows, webhookResultScope } from '../ledger/rate-windows.ts';
import families from './warehouse-metrics.json' with { type: 'json' };

/** A row of metrics. Each column is a label or a value. A null value leaves out the metric's series. */
type Row = Readonly<Record<string, string | number | null>>;

/** A metric, as `warehouse-metrics.json` and docs/reference/metrics.md describe it. */
interface Metric {
  readonly help: string;
  readonly labels: readonly string[];
  /** Columns with the metric's values. If there are several, the label `state` names the column. */
  readonly values: readonly string[];
}

/** A query, or a function that returns rows. */
type Reading =
  | RawBuilder<Row>
  | ((transaction: Transaction<Tables>, limits: AdmissionLimits) => Promise<Row[]>);

/** Maximum number of runs with series of their own. `enrich_runs` counts all runs. */
const runsShown = 20;
/** Number of calls of a full page. */
const newestCalls = peoplePerPage / peoplePerCall;
/** Statuses with a series. `planned` has none, because `enrich plan` does not begin a run. */
const statusesOfRuns = allRunStatuses.filter((status) => status !== 'planned');

const readings: Readonly<Record<keyof typeof families, Reading>> = {
  // Settled credits are summed over the budgets of all months, because attempts have far more rows.
  calls: sql<Row>`
    select (
        select coalesce(sum(settled), 0)::float8 from budgets where budget_id like 'month:%'
      ) as settled,
      coalesce(sum(credits_reserved) filter (where status <> 'unknown'), 0)::float8 as reserved,
      coalesce(sum(credits_reserved) filter (where status = 'unknown'), 0)::float8 as unknown,
      coalesce(extract(epoch from clock_timestamp() - min(admitted_at) filter (where status = 'unknown')), 0)::float8
        as seconds,
      (count(*) filter (where status = 'awaiting' and awaited_until > clock_timestamp()))::int as awaited,
      (count(*) filter (
        where (status = 'unknown' or awaited_until <= clock_timestamp()) and ${hasExpectedResults}))::int as expired
    from attempts a
    where status in (${nameList(statusesWithReservation)})`,
  openCalls: sql<Row>`
    select status, coalesce(attempts, 0) as attempts
    from unnest(array[${nameList(statusesWithReservation)}]) as holding (status)
    left join (
      select status, count(*)::int as attempts
      from attempts
      where status in (${nameList(statusesWithReservation)})
      group by 1
    ) counted using (status)`,
  budgets: async (transaction) =>
    (await readPeriodBudgets(transaction)).map((each) => ({ ...each, budget: each.period })),
  windows: readWindows,
  pauses: sql<Row>`
    select scope as endpoint,
      coalesce(greatest(0, extract(epoch from paused_until - clock_timestamp())), 0)::float8 as seconds
    from rate_scopes`,
  inbox: sql<Row>`
    select count(*)::int as deliveries,
      coalesce(extract(epoch from clock_timestamp() - min(received_at)), 0)::float8 as seconds
    from webhook_deliveries
    where status = 'received'`,
  quarantine: sql<Row>`
    select count(*)::int as deliveries from webhook_deliveries where status = 'quarantined'`,
  runs: sql<Row>`
    select status, coalesce(runs, 0) as runs
    from unnest(array[${nameList(statusesOfRuns)}]) as shown (status)
    left join (select status, count(*)::int as runs from runs where ${maySpend} group by 1) counted using (status)`,
  pausedRuns: async (transaction) => {
    const { rows } = await sql<{ type: string; runs: number }>`
      select coalesce(pause_reason->>'type', 'run.paused') as type, count(*)::int as runs
      from runs
      where status = 'paused' and ${maySpend}
      group by 1`.execute(transaction);
    return rows.map((row) => ({ ...row, needs: operatorActionFor(row.type) }));
  },
  lastRun: sql<Row>`
    select extract(epoch from max(finished_at))::float8 as seconds from runs where status = 'finished'`,
  notifications: sql<Row>`
    select (count(*) filter (where event = 'failed' and run_id is null))::int as failed_times,
      (count(*) filter (
        where failure is not null and occurred_at > clock_timestamp() - interval '1 day'))::int as undelivered
    from notifications`,
  // A healthy run can make no calls for hours, while it waits for late results or a budget. It counts as idle only
  // after its next poll is due. A run can have millions of calls, so only open and newest calls are read.
  unfinishedRuns: sql<Row>`
    select r.run_id as run, r.status,
      case when r.plan ? 'people' then a.asked end as asked,
      case when r.plan ? 'people' then greatest(0, (r.plan->>'people')::int - a.asked) end as open,
      coalesce(b.settled, 0)::float8 as settled,
      (coalesce(b.reserved, 0) - held.unknown)::float8 as reserved,
      held.unknown::float8 as unknown, b.credits_limit::float8 as "limit",
      greatest(0, extract(epoch from clock_timestamp() - greatest(
        r.created_at, r.ingested_at, r.approved_at, held.moved, answered.moved, newest.moved, held.due
      )))::float8 as idle_seconds,
      (exists (select from batches_before(r.options ->> 'priority')))::int as preempted
    from runs r
    left join budgets b on b.budget_id = 'run:' || r.run_id
    cross join lateral (
      select coalesce(sum(people), 0)::int as asked
      from attempts
      where run_id = r.run_id and status in (${nameList(statusesOfLookups)})
    ) a
    cross join lateral (
      select coalesce(sum(credits_reserved) filter (where status = 'unknown'), 0) as unknown,
        max(greatest(admitted_at, answered_at, closed_at)) as moved,
        min(least(next_poll_at, awaited_until))
          filter (where status = 'awaiting' and awaited_until > clock_timestamp()) as due
      from attempts
      where run_id = r.run_id and status in (${nameList(statusesWithReservation)})
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
    limit ${runsShown}`,
};

/** Reads the free and used slots in all rate windows of each endpoint. */
async function readWindows(
  transaction: Transaction<Tables>,
  { service, rateLimits }: AdmissionLimits,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const scope of [bulkMatchScope, matchScope, webhookResultScope])
    for (const each of await readRateWindows(transaction, { service, scope }, rateLimits))
      rows.push({
        endpoint: scope,
        window: formatDuration(each.seconds),
        counted_by: each.cause === 'window' ? 'us' : 'service',
        free: each.free,
        used: each.calls - each.free,
      });
  return rows;
}

/** Time limit of a scrape. Prometheus gives up after ten seconds, and would lose the process metrics too. */
const patienceMilliseconds = 4_000;
const statementMilliseconds = 3_000;

/** Reads metrics, the same in every process (never sum them); without a database, only `enrich_database_up 0`. */
export async function readWarehouseMetrics(warehouse: Warehouse, limits: AdmissionLimits): Promise<string> {
  const begun = performance.now();
  const ended = new AbortController();
  const patience = sleep(patienceMilliseconds, undefined, ended).catch(() => undefined);
  const registry = await Promise.race([readMetrics(warehouse, limits), patience]).catch(() => undefined);
  ended.abort();
  return textOf(registry ?? new Registry(), (performance.now() - begun) / 1_000, registry !== undefined);
}

function textOf(registry: Registry, seconds: number, isUp: boolean): Promise<string> {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [registry] });
  gauge('enrich_database_up', '1 if the database could be read, otherwise 0.').set(isUp ? 1 : 0);
  gauge('enrich_database_read_seconds', 'Duration of reading the database, or of the wait for it.').set(
    seconds,
  );
  return registry.metrics();
}

/** Reads the metrics in one read-only transaction. A new registry for each scrape drops the series of ended runs. */
async function readMetrics(warehouse: Warehouse, limits: AdmissionLimits): Promise<Registry> {
  const registry = new Registry();
  await warehouse.database
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      // The index alone is enough to count a run's calls. A bitmap scan would read the rows of all calls.
      await sql`
        select set_config('statement_timeout', ${String(statementMilliseconds)}, true),
          set_config('enable_bitmapscan', 'off', true)
      `.execute(transaction);
      for (const family of Object.keys(families) as (keyof typeof families)[]) {
        const read = readings[family];
        const rows =
          typeof read === 'function'
            ? await read(transaction, limits)
            : (await read.execute(transaction)).rows;
        for (const [name, metric] of Object.entries<Metric>(families[family]))
          setGauge(registry, name, metric, rows);
      }
    });
  return registry;
}

/** Adds a metric with one series per row and, if it has several values, per value (label `state`). */
function setGauge(
  registry: Registry,
  name: string,
  { help, labels, values }: Metric,
  rows: readonly Row[],
): void {
  const labelNames = values.length > 1 ? [...labels, 'state'] : labels;
  const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
  // A gauge without labels begins with the value 0, also if there is no row.
  if (labelNames.length === 0) gauge.remove();
  for (const row of rows)
    for (const state of values) {
      if (row[state] === null) continue;
      const own = Object.fromEntries(labels.map((label) => [label, String(row[label])]));
      gauge.set(values.length > 1 ? { ...own, state } : own, Number(row[state]));
    }
}
