import type { RunOptions } from '../domain/runs/run-options.ts';

/** Task queue of all activities except paid calls. */
export const controlTaskQueue = 'enrichment-control';

/**
 * Task queues of paid calls, with few slots each, because a call is a long activity. On one queue for all priorities,
 * waiting batches of a backfill took the slots of nightly runs (up to 16 calls first, with 600 people a night). In a
 * worker, the call queue orders the batches.
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

/** Signal that tells a run's workflow that the inbox has deliveries. A lost or repeated signal does no harm. */
export const deliveryReceivedSignalName = 'deliveryReceived';

/** Signal that tells a run's workflow that its budget has changed. A repeated signal does no harm. */
export const budgetChangedSignalName = 'budgetChanged';

/** Id of the Temporal schedule that syncs late results of ended runs. */
export const sweepScheduleId = 'enrichment-late-results';

/** Id of the Temporal schedule that removes data older than `RETENTION`. */
export const pruneScheduleId = 'enrichment-retention';

/**
 * Search attributes of runs and their types. The values of `EnrichmentWaitsFor`: a type of pause reason
 * (`budget.empty`), `approval`, `late results`, or `next call` (a full rate window, or calls of higher priority); none
 * if the run does not wait.
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
 * Priorities of Temporal tasks that wait for a worker, and of calls that wait in a worker. The lowest number goes
 * first. All activities and pages of a run have the run's priority.
 */
export const taskPriorities = { 'ad-hoc': 2, nightly: 3, backfill: 4 } as const satisfies Readonly<
  Record<RunPriority, number>
>;

/** Priority of a run. Calls of a run with a higher priority go first. */
export type RunPriority = RunOptions['priority'];

/** All priorities, the highest first. */
export const runPriorities = (Object.keys(taskPriorities) as RunPriority[]).sort(
  (one, other) => taskPriorities[one] - taskPriorities[other],
);
