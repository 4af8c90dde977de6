import { waitsForBudget } from '../src/contract/pause-reasons.ts';
import { quick } from './control-activities.ts';
import type { RunState } from './run-state.ts';

/**
 * Decides what a run does when a page has no credits for one more person. A waiting run is paused until the budget is
 * raised, its next period begins, a late result releases credits, or a person resumes or cancels the run. The wait is
 * durable. At the latest after an hour, the run looks again: nothing announces other credits.
 *
 * @returns the budget that ends the run; undefined: the run continues, or is still paused and decides again
 */
export async function resolveBudgetExhaustion(run: RunState): Promise<string | undefined> {
  run.budgetChanged = false;
  const { arrived, pauseReason: before } = run;
  const resolution = await quick.resolveBudgetExhaustion.executeWithOptions(
    { summary: 'what is left of the budgets' },
    [{ runId: run.runId }],
  );
  // A person has paused, resumed or cancelled the run meanwhile, or has changed a budget.
  if (run.isCancelling || run.budgetChanged || run.pauseReason?.type !== before?.type) return undefined;
  if (resolution.kind === 'wait') {
    const { milliseconds, pauseReason } = resolution;
    if (before?.reason !== pauseReason.reason) await run.setStatus('paused', pauseReason);
    await run.waitUntil(
      () => !waitsForBudget(run.pauseReason) || run.budgetChanged || run.arrived !== arrived,
      milliseconds === null ? undefined : { milliseconds, summary: pauseReason.reason.slice(0, 180) },
    );
    return undefined;
  }
  // The tables keep a pause that a person has made meanwhile.
  if (before) await run.setStatus('running');
  return resolution.kind === 'finish' && run.pauseReason === null ? resolution.budget : undefined;
}
