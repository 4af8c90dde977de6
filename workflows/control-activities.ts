import { proxyActivities } from '@temporalio/workflow';
import type { ControlActivities } from '../src/contract/activities.ts';
import { controlTaskQueue } from '../src/contract/temporal-names.ts';

/** Short work of a run. */
export const quick = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { maximumInterval: '30 seconds' },
});

/** Ingest and plan of a large file take minutes; the heartbeat distinguishes a busy worker from a dead one. */
export const long = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: { maximumInterval: '30 seconds' },
});

/** Compares people for minutes, and some steps of it leave no time for a heartbeat on a loaded machine. */
export const computing = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '1 minute',
  retry: { maximumInterval: '30 seconds' },
});
