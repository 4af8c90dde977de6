import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, Registry } from 'prom-client';
import { needOf } from '../contract/pause-reasons.ts';
import { ineffectiveStatuses } from '../domain/late-results/delivery-status.ts';
import { holdingStatuses } from '../domain/money/attempt-status.ts';
import { formatDuration } from '../domain/text/duration.ts';
import type { Warehouse } from '../db/database.ts';
import { allStatuses } from '../db/run-states.ts';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { readState, type State } from './read-state.ts';

/** Scrapes within this time share one read of the database. */
const freshMilliseconds = 5_000;
/** Prometheus abandons a scrape after ten seconds and would also lose the metrics of the process. */
const patienceMilliseconds = 4_000;

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
    return text ?? render(undefined, patienceMilliseconds / 1_000);
  }

  async #readNow(): Promise<string> {
    const begun = performance.now();
    const seconds = (): number => (performance.now() - begun) / 1_000;
    try {
      const state = await readState(this.#warehouse, this.#limits);
      return await render(state, seconds());
    } catch {
      // `enrich_database_up 0` reports the failure; the workers log the cause.
      return render(undefined, seconds());
    }
  }
}

/** A new registry for each scrape drops the series of ended runs. */
function render(state: State | undefined, seconds: number): Promise<string> {
  const registry = new Registry();
  const gauge: MakeGauge = (name, help, ...labelNames) =>
    new Gauge({ name, help, labelNames, registers: [registry] });

  gauge('enrich_database_up', '1 if the database could be read, otherwise 0.').set(state ? 1 : 0);
  gauge('enrich_database_read_seconds', 'Duration of reading the database, or of the wait for it.').set(
    seconds,
  );
  if (!state) return registry.metrics();
  renderMoney(state, gauge);
  renderLimits(state, gauge);
  renderLateResults(state, gauge);
  renderRuns(state, gauge);
  renderUnfinishedRuns(state, gauge);
  return registry.metrics();
}

type MakeGauge = <Label extends string>(name: string, help: string, ...labels: Label[]) => Gauge<Label>;

function renderMoney(state: State, gauge: MakeGauge): void {
  const open = (status: string) => state.openAttempts.find((attempts) => attempts.status === status);
  const credits = gauge(
    'enrich_credits',
    'Credits of all time: settled, reserved for calls in flight and awaited results, and held by unknown calls.',
    'state',
  );
  credits.set({ state: 'settled' }, Number(state.settledTotal));
  credits.set(
    { state: 'reserved' },
    Number(open('admitted')?.credits ?? 0) + Number(open('awaiting')?.credits ?? 0),
  );
  credits.set({ state: 'unknown' }, Number(open('unknown')?.credits ?? 0));

  const used = gauge(
    'enrich_budget_credits',
    'Credits of the current periods (UTC), settled and reserved.',
    'budget',
    'state',
  );
  const limit = gauge(
    'enrich_budget_limit_credits',
    'The limits of the current periods; absent without a limit.',
    'budget',
  );
  for (const budget of state.budgets) {
    used.set({ budget: budget.period, state: 'settled' }, Number(budget.settled));
    used.set({ budget: budget.period, state: 'reserved' }, Number(budget.reserved));
    if (budget.limit !== null) limit.set({ budget: budget.period }, Number(budget.limit));
  }

  const attempts = gauge(
    'enrich_attempts_open',
    'Bulk calls whose cost is not settled, by status.',
    'status',
  );
  for (const status of holdingStatuses) attempts.set({ status }, open(status)?.attempts ?? 0);
  gauge('enrich_attempts_unknown_oldest_seconds', 'Age of the oldest call that waits for a decision.').set(
    open('unknown')?.seconds ?? 0,
  );
}

function renderLimits(state: State, gauge: MakeGauge): void {
  const slots = gauge(
    'enrich_rate_window_slots',
    'Slots of a rate window, free and used, by our own count or the last report of the service.',
    'endpoint',
    'window',
    'counted_by',
    'state',
  );
  for (const { scope, seconds, calls, free, countedBy } of state.windows) {
    const labels = { endpoint: scope, window: formatDuration(seconds), counted_by: countedBy };
    slots.set({ ...labels, state: 'free' }, free);
    slots.set({ ...labels, state: 'used' }, calls - free);
  }
  const pause = gauge(
    'enrich_rate_pause_seconds',
    'Remaining pause after the service refused a call with 429.',
    'endpoint',
  );
  for (const { scope, seconds } of state.pauses) pause.set({ endpoint: scope }, seconds);
}

function renderLateResults(state: State, gauge: MakeGauge): void {
  gauge('enrich_inbox_deliveries', 'Deliveries that wait to be applied.').set(state.inbox.deliveries);
  gauge('enrich_inbox_oldest_seconds', 'Time that the oldest waiting delivery has waited.').set(
    state.inbox.seconds,
  );
  const quarantined = gauge(
    'enrich_deliveries_quarantined',
    'Deliveries that changed no contact: orphaned (their results go to no person of a recorded answer; their price ' +
      'counts) and quarantined (unreadable, of another call, or with an impossible price).',
    'status',
  );
  for (const status of ineffectiveStatuses) {
    const found = state.quarantinedDeliveries.find((deliveries) => deliveries.status === status);
    quarantined.set({ status }, found?.deliveries ?? 0);
  }
  const sum = (key: 'awaited' | 'expired') =>
    state.openAttempts.reduce((total, attempts) => total + attempts[key], 0);
  const late = gauge(
    'enrich_late_results',
    'Calls whose late results are awaited, or did not arrive by the deadline.',
    'state',
  );
  late.set({ state: 'awaited' }, sum('awaited'));
  late.set({ state: 'expired' }, sum('expired'));
}

/** `planned` has no series: `enrich plan` begins no run. */
const statusesOfRuns = allStatuses.filter((status) => status !== 'planned');

function renderRuns(state: State, gauge: MakeGauge): void {
  const runs = gauge('enrich_runs', 'Runs by status.', 'status');
  for (const status of statusesOfRuns) runs.set({ status }, 0);
  const paused = gauge(
    'enrich_runs_paused',
    'Paused runs, by the type of the pause reason, and what a person does: fix, decision or nothing.',
    'type',
    'needs',
  );
  for (const { status, pauseReason, runs: count } of state.runs) {
    runs.inc({ status }, count);
    const type = pauseReason ?? 'run.paused';
    if (status === 'paused') paused.inc({ type, needs: needOf(type) }, count);
  }
  const finished = gauge(
    'enrich_last_run_finished_timestamp_seconds',
    'Time at which a run last finished; absent before the first.',
  );
  if (state.lastFinished === null) finished.remove();
  else finished.set(state.lastFinished);

  gauge('enrich_scheduled_times_failed', 'Times of schedules that failed without a run, of all time.').set(
    state.failedScheduledTimes,
  );
  gauge(
    'enrich_notifications_undelivered',
    'Notifications of the last day that are not delivered: waiting for a retry, or abandoned.',
  ).set(state.undeliveredNotifications);
}

function renderUnfinishedRuns(state: State, gauge: MakeGauge): void {
  const staged = gauge('enrich_run_rows_staged', 'Staged rows of unfinished runs.', 'run');
  const people = gauge(
    'enrich_run_people',
    'People in the plan of unfinished runs: asked, and open.',
    'run',
    'state',
  );
  const credits = gauge(
    'enrich_run_credits',
    'Credits of unfinished runs: settled, reserved, unknown.',
    'run',
    'state',
  );
  const limit = gauge(
    'enrich_run_budget_limit_credits',
    'The limit of a run; absent without a limit.',
    'run',
  );
  const idle = gauge(
    'enrich_run_idle_seconds',
    'Time since a call of an unfinished run began or ended, or since a poll for its late results was due.',
    'run',
    'status',
  );
  const preempted = gauge(
    'enrich_run_preempted',
    '1 while the run waits for batches of runs with a higher priority.',
    'run',
  );
  for (const run of state.unfinished) {
    const { runId } = run;
    staged.set({ run: runId }, run.rowsStaged);
    idle.set({ run: runId, status: run.status }, run.idleSeconds);
    preempted.set({ run: runId }, Number(run.isPreempted));
    for (const kind of ['settled', 'reserved', 'unknown'] as const)
      credits.set({ run: runId, state: kind }, Number(run[kind]));
    if (run.limit !== null) limit.set({ run: runId }, Number(run.limit));
    if (run.planned === null) continue;
    people.set({ run: runId, state: 'asked' }, run.asked);
    people.set({ run: runId, state: 'open' }, Math.max(0, run.planned - run.asked));
  }
}
