import { proxyActivities } from '@temporalio/workflow';
import type { ControlActivities } from '../src/contract/activities.ts';
import { controlTaskQueue } from '../src/contract/temporal-names.ts';

const { sweepLateResults } = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/**
 * Syncs the late results of ended runs; started by a schedule. Its result has the counts.
 */
export async function lateResultSweep(): Promise<{ readonly applied: number }> {
  return sweepLateResults.executeWithOptions({ summary: 'late results of runs that have ended' }, []);
}
