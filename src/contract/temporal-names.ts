import type { RunOptions } from '../domain/runs/run-options.ts';

/** The task queue of everything except paid calls: ingest, plan, opening of pages, finish. */
export const controlTaskQueue = 'enrichment-control';

/**
 * The task queues of paid calls. Each call is one long activity and each queue has few slots, so that calls never
 * starve other activities. Each priority has its own queue: on a shared queue, waiting batches of a backfill would hold
 * all slots while a nightly run begins. With 600 people a night beside a backfill, up to 16 calls of the backfill went
 * first on one queue. Inside a worker the call queue orders the batches.
 */
export const callTaskQueues = {
  'ad-hoc': 'enrichment-calls-ad-hoc',
  nightly: 'enrichment-calls-nightly',
  backfill: 'enrichment-calls-backfill',
} as const;

export const workflowTypes = {
  run: 'enrichmentRun',
  page: 'enrichmentPage',
  sweep: 'lateResultSweep',
  prune: 'retentionPrune',
  scheduled: 'scheduledRun',
} as const;

/**
 * Signal of the receiver to a run: the inbox has a delivery. One signal can stand for several deliveries; a lost or
 * repeated signal does no harm.
 */
export const deliveryReceivedSignalName = 'deliveryReceived';

/** Signal of a command to a run: a budget that the run waits for has changed. A repeated signal does no harm. */
export const budgetChangedSignalName = 'budgetChanged';

/** The schedule that syncs late results of ended runs. */
export const sweepScheduleId = 'enrichment-late-results';

/** The schedule that removes data older than `RETENTION`. */
export const pruneScheduleId = 'enrichment-retention';

/**
 * Search attributes of runs, with their types; the dev server registers them at its start. `EnrichmentWaitsFor` is the
 * type of a pause reason (`budget.empty`), `approval`, `late results`, or `next call` (a full rate window, or calls of
 * higher priority). It has no value if the run waits for nothing.
 */
export const searchAttributes = {
  EnrichmentStatus: 'Keyword',
  EnrichmentWaitsFor: 'Keyword',
  EnrichmentSource: 'Keyword',
  EnrichmentFile: 'Keyword',
  EnrichmentSchedule: 'Keyword',
  EnrichmentAsOf: 'Datetime',
  EnrichmentRows: 'Int',
  EnrichmentCreditsSettled: 'Double',
} as const;

/**
 * Priorities of Temporal's tasks that wait for a worker, and of calls that wait in a worker; the lowest number goes
 * first. The activities and pages of a run have the priority of the run.
 */
export const taskPriorities = { 'ad-hoc': 2, nightly: 3, backfill: 4 } as const satisfies Readonly<
  Record<RunPriority, number>
>;

/** Calls of a run with a higher priority go first. */
export type RunPriority = RunOptions['priority'];

/** Every priority, the highest first. */
export const runPriorities = (Object.keys(taskPriorities) as RunPriority[]).sort(
  (one, other) => taskPriorities[one] - taskPriorities[other],
);
