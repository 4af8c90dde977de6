import type { RunFacts } from '../contract.ts';
import type { Warehouse } from '../db/database.ts';
import { readRunFacts } from './run-facts.ts';
import { endRun } from './runs.ts';

/**
 * Ends a run: rows that have no outcome yet get the one that its ending gives them.
 *
 * @param ending `finished` where there are no such rows
 * @param budget the one that was empty, where the run ends for it
 * @returns the facts of the run as it ended
 */
export async function finishRun(
  warehouse: Warehouse,
  runId: string,
  ending: 'finished' | 'over_budget' | 'cancelled',
  budget: string | undefined,
): Promise<RunFacts> {
  switch (ending) {
    case 'finished':
      await endRun(warehouse, runId, 'finished', undefined);
      break;
    case 'over_budget':
      await endRun(warehouse, runId, 'finished', {
        outcome: 'over_budget',
        reason: `no credits were left in ${budget ?? 'a budget'}`,
      });
      break;
    case 'cancelled':
      await endRun(warehouse, runId, 'cancelled', { outcome: 'cancelled', reason: 'the run was cancelled' });
      break;
  }
  return readRunFacts(warehouse, runId);
}
