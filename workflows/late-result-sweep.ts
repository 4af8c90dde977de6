import { proxyActivities } from '@temporalio/workflow';
import { controlTaskQueue, type ControlActivities } from '../src/contract.ts';

const { sweepLateResults } = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/**
 * Looks after the late results of runs that have ended: started by a schedule, since no other person waits for them.
 * The result says what it did.
 */
export async function lateResultSweep(): Promise<{ readonly applied: number }> {
  return sweepLateResults.executeWithOptions({ summary: 'late results of runs that have ended' }, []);
}
