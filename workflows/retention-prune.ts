import { proxyActivities } from '@temporalio/workflow';
import { controlTaskQueue, type ControlActivities, type Pruned } from '../src/contract.ts';

const { pruneWarehouse } = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/** Removes what was kept long enough: started by a schedule. The result says what it removed. */
export async function retentionPrune(): Promise<Pruned> {
  return pruneWarehouse.executeWithOptions({ summary: 'remove what is older than RETENTION' }, []);
}
