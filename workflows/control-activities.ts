import { proxyActivities, type ActivityInterfaceFor, type ActivityOptions } from '@temporalio/workflow';
import type { ControlActivities } from '../src/contract/activities.ts';
import { controlTaskQueue } from '../src/contract/temporal-names.ts';

let heartbeatTimeout = 10_000;

/** Sets the heartbeat of this workflow's activities. Called first, with the input of the workflow. */
export function useHeartbeatOf({ heartbeatSeconds }: { readonly heartbeatSeconds?: number }): void {
  if (heartbeatSeconds !== undefined) heartbeatTimeout = heartbeatSeconds * 1_000;
}

/**
 * Activities that use the workflow's heartbeat if their options have none. The heartbeat distinguishes a busy worker
 * from a dead one.
 */
export function beatingActivities<Activities extends object>(
  options: ActivityOptions,
): ActivityInterfaceFor<Activities> {
  // The module is loaded before the workflow has its input.
  return new Proxy({} as ActivityInterfaceFor<Activities>, {
    get: (_, name) =>
      Reflect.get(proxyActivities<Activities>({ heartbeatTimeout, ...options }), name) as unknown,
  });
}

export function controlActivities(options: ActivityOptions): ActivityInterfaceFor<ControlActivities> {
  return beatingActivities<ControlActivities>({
    taskQueue: controlTaskQueue,
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
