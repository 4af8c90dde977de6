import type { RunFacts } from '../contract/run-facts.ts';
import type { PauseReasonType } from '../contract/pause-reasons.ts';
import type { Warehouse } from '../db/database.ts';
import { readRunFacts } from './run-facts.ts';
import { endRun, getRun } from './runs.ts';

/**
 * Ends a run. Rows without an outcome get the outcome of the ending, such as `over_budget`. A run that late results
 * have paused, because they were billed above their worst case, stays paused until a person has seen it.
 *
 * @param ending `finished` requires that every row has an outcome
 * @param budget the empty budget, if the run ends because of it
 * @returns the facts of the run as it ended; their status is `paused` if it did not end
 */
export async function finishRun(
  warehouse: Warehouse,
  runId: string,
  ending: 'finished' | 'over_budget' | 'cancelled',
  budget: string | undefined,
): Promise<RunFacts> {
  if (ending !== 'cancelled' && (await isOverbilled(warehouse, runId))) return readRunFacts(warehouse, runId);
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

async function isOverbilled(warehouse: Warehouse, runId: string): Promise<boolean> {
  const overbilled: PauseReasonType = 'service.overbilled';
  const { status, pauseReason } = await getRun(warehouse, runId);
  return status === 'paused' && pauseReason?.type === overbilled;
}
