import { proxyActivities, type ActivityInterfaceFor, type ActivityOptions } from '@temporalio/workflow';
import type { ControlActivities } from '../src/contract/activities.ts';
import { controlTaskQueue } from '../src/contract/temporal-names.ts';

let heartbeatTimeout = 10_000;

/** Sets the heartbeat timeout of this workflow's activities. A workflow calls this first, with its input. */
export function useHeartbeatOf({ heartbeatSeconds }: { readonly heartbeatSeconds?: number }): void {
  if (heartbeatSeconds !== undefined) heartbeatTimeout = heartbeatSeconds * 1_000;
}

/**
 * Makes proxies of activities, with the workflow's heartbeat timeout unless the options have another. Heartbeats
 * distinguish a busy worker from a dead one.
 */
export function beatingActivities<Activities extends object>(
  options: ActivityOptions,
): ActivityInterfaceFor<Activities> {
  // The module is loaded before the workflow has its input, so each call reads the timeout.
  return new Proxy({} as ActivityInterfaceFor<Activities>, {
    get: (_, name) =>
      Reflect.get(proxyActivities<Activities>({ heartbeatTimeout, ...options }), name) as unknown,
  });
}

/** Proxies of the activities of the control queue, with these options. */
export function controlActivities(options: ActivityOptions): ActivityInterfaceFor<ControlActivities> {
  return beatingActivities<ControlActivities>({
    taskQueue: controlTaskQueue,
    retry: { maximumInterval: '30 seconds' },
    ...options,
  });
}

/** Activities of the control queue that take seconds. */
export const quickActivities = controlActivities({ startToCloseTimeout: '10 minutes' });

/** Activities that may take hours, such as ingest and plan of a large file. */
export const longActivities = controlActivities({ startToCloseTimeout: '12 hours' });

/**
 * Activities that compare people for minutes. On a loaded machine, some of their steps leave no time for a heartbeat.
 */
export const computingActivities = controlActivities({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '1 minute',
});
