import { proxyActivities, type ActivityInterfaceFor, type ActivityOptions } from '@temporalio/workflow';
import type { ControlActivities } from '../src/contract/activities.ts';
import { controlTaskQueue } from '../src/contract/temporal-names.ts';

/** The heartbeat distinguishes a busy worker from a dead one. */
export const heartbeatTimeout = '10 seconds';

export function controlActivities(options: ActivityOptions): ActivityInterfaceFor<ControlActivities> {
  return proxyActivities<ControlActivities>({
    taskQueue: controlTaskQueue,
    heartbeatTimeout,
    retry: { maximumInterval: '30 seconds' },
    ...options,
  });
}

export const quick = controlActivities({ startToCloseTimeout: '10 minutes' });

/** Ingest and plan of a large file take minutes. */
export const long = controlActivities({ startToCloseTimeout: '12 hours' });

/** Compares people for minutes, and some steps of it leave no time for a heartbeat on a loaded machine. */
export const computing = controlActivities({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '1 minute',
});
