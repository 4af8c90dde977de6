import type { Pruned } from '../src/contract/activities.ts';
import { controlActivities } from './control-activities.ts';

const { sweepLateResults } = controlActivities({
  startToCloseTimeout: '1 hour',
  retry: { maximumAttempts: 3 },
});

const { pruneWarehouse } = controlActivities({
  startToCloseTimeout: '12 hours',
  retry: { maximumAttempts: 3 },
});

/** Syncs the late results of ended runs; started by a schedule. Its result has the counts. */
export async function lateResultSweep(): Promise<{ readonly applied: number }> {
  return sweepLateResults.executeWithOptions({ summary: 'late results of runs that have ended' }, []);
}

/** Removes data that is older than `RETENTION`; started by a schedule. Its result has the counts. */
export async function retentionPrune(): Promise<Pruned> {
  return pruneWarehouse.executeWithOptions({ summary: 'remove what is older than RETENTION' }, []);
}
