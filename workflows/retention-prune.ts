import { proxyActivities } from '@temporalio/workflow';
import type { ControlActivities, Pruned } from '../src/contract/activities.ts';
import { controlTaskQueue } from '../src/contract/temporal-names.ts';

const { pruneWarehouse } = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/** Removes data that is older than `RETENTION`; started by a schedule. Its result has the counts. */
export async function retentionPrune(): Promise<Pruned> {
  return pruneWarehouse.executeWithOptions({ summary: 'remove what is older than RETENTION' }, []);
}
