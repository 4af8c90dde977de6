import type { Pruned } from '../src/contract/activities.ts';
import { controlActivities } from './control-activities.ts';

const { pruneWarehouse } = controlActivities({
  startToCloseTimeout: '12 hours',
  retry: { maximumAttempts: 3 },
});

/** Removes data that is older than `RETENTION`; started by a schedule. Its result has the counts. */
export async function retentionPrune(): Promise<Pruned> {
  return pruneWarehouse.executeWithOptions({ summary: 'remove what is older than RETENTION' }, []);
}
