import type { RunOptions } from '../domain/runs/run-options.ts';

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
