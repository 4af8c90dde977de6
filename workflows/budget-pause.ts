import { condition } from '@temporalio/workflow';
import { waitsForBudget, type StatusReason } from '../src/contract/pause-reasons.ts';
import { quick } from './control-activities.ts';
import type { RunState } from './run-state.ts';

/** A worker with a lower limit of its own finds no credits where other workers do. */
const pauseBetweenTriesMilliseconds = 60_000;

/**
 * Decides what a run does when a page has no credits for one more person. A waiting run is paused until the budget is
 * raised, its next period begins, a late result releases credits, or a person resumes or cancels the run or skips the
 * rest of it. The wait is durable. At the latest after an hour, the run looks again: nothing announces other credits.
 *
 * @param callsMade number of calls of the page
 * @returns the budget that ends the run; undefined: it continues with the same page
 */
export async function resolveBudgetExhaustion(run: RunState, callsMade: number): Promise<string | undefined> {
  let paused: StatusReason | undefined = waitsForBudget(run.pauseReason) ? run.pauseReason : undefined;
  for (;;) {
    run.budgetChanged = false;
    const { arrived } = run;
    const isResumed = run.watchResume();
    const resolution = await quick.resolveBudgetExhaustion.executeWithOptions(
      { summary: 'what is left of the budgets' },
      [{ runId: run.runId }],
    );
    if (run.isCancelling) return undefined;
    // A person has resumed the run meanwhile: decide again.
    if (isResumed()) continue;
    if (run.pauseReason !== null && run.pauseReason !== paused) {
      // A person has paused the run meanwhile. A budget does not end that pause.
      await run.untilResumed(run.pauseReason);
      return undefined;
    }
    if (paused && run.pauseReason === null) return undefined;
    if (resolution.kind !== 'wait' || run.isRestSkipped) {
      if (paused) await continueRun(run, paused);
      else if (resolution.kind === 'open' && callsMade === 0) await beforeNextTry(run);
      return resolution.kind === 'finish' ? resolution.budget : undefined;
    }
    if (paused?.reason !== resolution.pauseReason.reason) {
      paused = resolution.pauseReason;
      run.pauseReason = paused;
      await run.setStatus('paused', paused);
    }
    if (run.phase !== 'paused') run.enter('paused');
    const { milliseconds, pauseReason } = resolution;
    await run.waitUntil(
      () =>
        run.pauseReason !== paused ||
        run.isCancelling ||
        run.budgetChanged ||
        run.arrived !== arrived ||
        run.isRestSkipped,
      milliseconds === null ? undefined : { milliseconds, summary: pauseReason.reason.slice(0, 180) },
    );
  }
}

async function continueRun(run: RunState, paused: StatusReason): Promise<void> {
  // A pause by hand in the meantime is written after this, and stays.
  await run.setStatus('running');
  if (run.pauseReason === paused) run.pauseReason = null;
  else if (run.pauseReason !== null) await run.untilResumed(run.pauseReason);
}

/**
 * The budgets have credits that the page did not find. They may have come just after the page ended, so the page is
 * opened again at once. Only a worker with a lower limit of its own finds none again.
 */
async function beforeNextTry(run: RunState): Promise<void> {
  run.missedCredits += 1;
  if (run.missedCredits === 1) return;
  await condition(() => run.budgetChanged || run.isCancelling, pauseBetweenTriesMilliseconds, {
    summary: 'a worker with a lower limit of its own found no credits: tried again',
  });
}
