import type { PrunedCounts } from '../src/contract/activities.ts';
import { controlActivities } from './control-activities.ts';

const { sweepLateResults } = controlActivities({
  startToCloseTimeout: '1 hour',
  retry: { maximumAttempts: 3 },
});

const { pruneWarehouse } = controlActivities({
  startToCloseTimeout: '12 hours',
  retry: { maximumAttempts: 3 },
});

/** Syncs the late results of ended runs. A Temporal schedule starts this workflow. */
export async function lateResultSweep(): Promise<{ readonly applied: number }> {
  return sweepLateResults.executeWithOptions({ summary: 'late results of runs that have ended' }, []);
}

/** Removes data older than `RETENTION`. A Temporal schedule starts this workflow. @returns counts of removed data */
export async function retentionPrune(): Promise<PrunedCounts> {
  return pruneWarehouse.executeWithOptions({ summary: 'remove what is older than RETENTION' }, []);
}
