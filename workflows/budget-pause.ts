import { condition } from '@temporalio/workflow';
import type { PauseReason } from '../src/contract.ts';
import { quick } from './control-activities.ts';
import type { RunState } from './run-state.ts';

/** Where a worker has a limit of its own that is lower than what is stored, others see credits that it does not. */
const pauseBetweenTriesMilliseconds = 60_000;

/**
 * What a run does whose page found no credits for even one person. Where it waits, it is paused until the budget is raised, the
 * day or month turns, a late result gives credits back, or a person resumes or cancels it: a durable wait that costs nothing.
 *
 * @param callsMade by the page that found none
 * @returns the budget that ends the run; undefined: it goes on with the same page
 */
export async function resolveBudgetExhaustion(run: RunState, callsMade: number): Promise<string | undefined> {
  let paused: PauseReason | undefined;
  for (;;) {
    run.budgetChanged = false;
    const arrived = run.late?.standing.arrived;
    const resumesBefore = run.resumes;
    const meeting = await quick.resolveBudgetExhaustion.executeWithOptions(
      { summary: 'what is left of the budgets' },
      [{ runId: run.runId }],
    );
    if (run.isCancelling) return undefined;
    // What it came to may be a pause that has been lifted since.
    if (run.resumes !== resumesBefore) continue;
    if (run.stop !== null && run.stop !== paused) {
      // Paused by a person meanwhile: that is not for a budget to end.
      await run.untilResumed(run.stop);
      return undefined;
    }
    if (paused && run.stop === null) return undefined;
    if (meeting.kind !== 'wait') {
      if (paused) await goOn(run, paused);
      else if (meeting.kind === 'open' && callsMade === 0) await aMoment(run);
      return meeting.kind === 'finish' ? meeting.budget : undefined;
    }
    if (paused?.reason !== meeting.stop.reason) {
      paused = meeting.stop;
      run.stop = paused;
      await run.setStatus('paused', paused);
      run.enter('paused');
    }
    const isNews = (): boolean =>
      run.stop !== paused || run.isCancelling || run.budgetChanged || run.late?.standing.arrived !== arrived;
    if (meeting.milliseconds === null) await condition(isNews);
    else await condition(isNews, meeting.milliseconds, { summary: meeting.stop.reason.slice(0, 180) });
  }
}

async function goOn(run: RunState, paused: PauseReason): Promise<void> {
  // A pause by hand that comes meanwhile is written after this, and holds.
  await run.setStatus('running');
  if (run.stop === paused) run.stop = null;
  else if (run.stop !== null) await run.untilResumed(run.stop);
}

async function aMoment(run: RunState): Promise<void> {
  await condition(() => run.budgetChanged || run.isCancelling, pauseBetweenTriesMilliseconds, {
    summary: 'a worker with a lower limit of its own found no credits: tried again',
  });
}
