import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  startChild,
} from '@temporalio/workflow';
import type { PageResult } from '../src/contract/activities.ts';
import { isPausedByCommand, waitsForBudget, type StatusReason } from '../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../src/contract/plan-summary.ts';
import type { RunFacts } from '../src/contract/run-facts.ts';
import type { RunEnding, RunInput } from '../src/contract/run-input.ts';
import { taskPriorities } from '../src/contract/run-priorities.ts';
import { longestSummary } from '../src/domain/runs/run-start.ts';
import { counted, countedPeople } from '../src/domain/text/counted.ts';
import { resolveBudgetExhaustion } from './budget-pause.ts';
import { computing, long, quick } from './control-activities.ts';
import { enrichmentPage } from './enrichment-page.ts';
import { RunState, isHistoryLong } from './run-state.ts';
import { cancelRun, installSteering } from './steering.ts';

/**
 * One run of one export: ingest → plan → (approve) → pages → finish. The database has the state: a workflow that is
 * started again continues from the tables.
 */
export async function enrichmentRun(input: RunInput): Promise<RunFacts> {
  const run = new RunState(input);
  installSteering(run);

  // A cancellation in Temporal ends the run like the update `cancel`: calls in flight are recorded and every row gets
  // its outcome. Then the workflow is cancelled for Temporal as well.
  const cancelledInTemporal = CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => cancelRun(run, 'cancelled in Temporal'));
    throw error;
  });
  cancelledInTemporal.catch(() => {});
  const facts = await CancellationScope.nonCancellable(() => carryOut(run, input));
  if (CancellationScope.current().consideredCancelled) await cancelledInTemporal;
  return facts;
}

async function carryOut(run: RunState, input: RunInput): Promise<RunFacts> {
  const plan = run.plan ?? (await prepare(run));
  if (input.checksService && plan.calls > 0) await untilServiceIsReady(run);
  for (;;) {
    run.ending ??= (await passPilot(run, plan)) ?? (await enrichPages(run, plan.pages));
    const end = run.ending;
    const mayContinue = await awaitLateResults(run, end);
    if (run.isCancelling) return finish(run, { ...end, ending: 'cancelled' });
    if (!mayContinue) return finish(run, end);
    run.ending = null;
  }
}

/** Ingest, plan, and the approval to spend. */
async function prepare(run: RunState): Promise<PlanSummary> {
  const { runId } = run;
  run.enter('ingesting');
  const ingested = await long.ingestExport.executeWithOptions(
    { summary: 'read the export into the staging table' },
    [{ runId }],
  );
  if (ingested.kind === 'refused') return fail(run, ingested.pauseReason);

  run.source = ingested.source;
  run.enter('planning');
  const planned = await long.planRun.executeWithOptions(
    {
      summary: `plan ${counted(ingested.rows, 'row')} of ${ingested.source}: what is worth asking for, and its price`,
    },
    [{ runId }],
  );
  if (planned.kind === 'refused') return fail(run, planned.pauseReason);
  run.plan = planned.plan;
  run.page = Math.max(run.page, planned.firstOpenPage);
  run.approved ||= planned.isApproved;
  if (run.approved && planned.unmet && !run.isCancelling) {
    await run.pause(planned.unmet);
  } else if (run.approved) {
    await begin(run);
  } else {
    await run.setStatus('awaiting_approval');
    run.enter('awaiting approval');
    await condition(() => run.approved || run.isCancelling);
  }
  if (!run.isCancelling) await reconcile(run);
  return planned.plan;
}

/** Begins to spend, unless the tables say that the run waits for a person: this workflow may have been reset. */
async function begin(run: RunState): Promise<void> {
  const isResumed = run.watchResume();
  await run.setStatus('running');
  takeRecordedPause(run, isResumed);
}

/**
 * Pauses the run if its tables say that it is paused.
 *
 * @param isResumed whether a person has resumed the run since the read of the tables began, which ends the pause
 * @param counts which types of pauses count; default: all
 */
function takeRecordedPause(
  run: RunState,
  isResumed: () => boolean,
  counts = (_type: string): boolean => true,
): void {
  const facts = run.figures?.facts;
  const type = facts?.reason_type ?? 'run.paused';
  if (facts?.status !== 'paused' || !counts(type) || isResumed()) return;
  run.pauseReason ??= { type, reason: facts.reason ?? '', next: facts.next ?? '' };
}

/**
 * Compares the contacts with the known people: contacts get a known person's data without a call, or lose the data of
 * a person whom their cells contradict.
 */
async function reconcile({ runId }: RunState): Promise<void> {
  await computing.reconcileContacts.executeWithOptions(
    { summary: 'compare the contacts with the people who are known' },
    [{ runId }],
  );
}

/** Checks the credential of a scheduled run, which has no user: a refused credential pauses the run before any call. */
async function untilServiceIsReady(run: RunState): Promise<void> {
  while (!run.isCancelling && run.service === null) {
    if (run.pauseReason) await run.untilResumed(run.pauseReason);
    const check = await quick.checkService.executeWithOptions(
      { summary: 'whom the credential acts as, and what is left of the limits' },
      [{ runId: run.runId }],
    );
    if (check.kind === 'ready') {
      run.service = check.status;
      return;
    }
    await run.pause(check.pauseReason);
  }
}

/**
 * Asks for the people of the pilot and waits for their late results. Then waits for a person, unless the quality gates
 * let the run continue.
 *
 * @returns how the run ends; undefined: it continues
 */
async function passPilot(run: RunState, { pilot, pages }: PlanSummary): Promise<RunEnding | undefined> {
  if (!pilot || run.isPilotPassed || pilot.pages === pages) return undefined;
  if (run.page <= pilot.pages) {
    const end = await enrichPages(run, pilot.pages);
    if (end.ending === 'over_budget') return end;
  }
  // Also if an earlier execution asked for the pilot and stopped there.
  if (run.page === pilot.pages + 1) await awaitLateResults(run);
  if (run.isCancelling) return run.endsAs('cancelled');
  const isResumed = run.watchResume();
  const judged = await quick.judgePilot.executeWithOptions(
    { summary: `what the pilot of ${countedPeople(pilot.people)} came to` },
    [{ runId: run.runId }],
  );
  run.isPilotPassed = true;
  // The activity has paused the run in the tables, so a person may have resumed it before this point.
  if (judged.kind === 'pause' && !isResumed()) {
    await run.readFigures();
    if (!isResumed()) await run.untilResumed(judged.pauseReason);
  }
  return undefined;
}

/**
 * Opens one page after another, until the last page is done, no credits are left, or the run is cancelled. A run that
 * was paused during its last calls stays paused, as the command that paused it says.
 */
async function enrichPages(run: RunState, lastPage: number): Promise<RunEnding> {
  run.late?.start();
  let budget: string | undefined;
  const isLeft = (): boolean =>
    run.page <= lastPage || (run.pauseReason !== null && lastPage === run.plan?.pages);
  while (isLeft() && !run.isCancelling && budget === undefined) {
    const { page } = run;
    if (isHistoryLong()) await run.continueAsNew();
    else if (waitsForBudget(run.pauseReason)) budget = await resolveBudgetExhaustion(run, 0);
    else if (run.pauseReason) await run.untilResumed(run.pauseReason);
    else if (run.skipped.has(page)) run.page += 1;
    else if (run.skipping.has(page)) await condition(() => run.skipped.has(page) || !run.skipping.has(page));
    else budget = await enrichPage(run, page);
  }
  await run.late?.stop();
  return run.endsAs(budget === undefined ? 'finished' : 'over_budget', budget);
}

/** @returns the budget that ends the run; undefined: the run continues */
async function enrichPage(run: RunState, page: number): Promise<string | undefined> {
  run.enter('enriching');
  const isResumed = run.watchResume();
  const result = await runPageWorkflow(run, page);
  const isResumedAfterPage = run.watchResume();
  await run.readFigures();
  takeRecordedPause(run, isResumedAfterPage, isPausedByCommand);
  if (result.kind !== 'over_budget' || result.calls > 0) run.missedCredits = 0;
  if (run.skipping.has(page)) return undefined;
  switch (result.kind) {
    case 'done':
      run.page += 1;
      return undefined;
    case 'unfinished':
      return undefined;
    case 'over_budget':
      return resolveBudgetExhaustion(run, result.calls);
    case 'stopped':
      // A stopped page may end after the run was resumed: then the page is opened again.
      if (!run.isCancelling && !isResumed()) run.pauseReason ??= result.pauseReason;
      return undefined;
  }
}

async function runPageWorkflow(run: RunState, page: number): Promise<PageResult> {
  const { runId, file, batchConcurrency, priority, plan } = run;
  const input = { runId, page, batchConcurrency, priority };
  const options = {
    workflowId: `${runId}/page-${page}`,
    priority: { priorityKey: taskPriorities[priority] },
    staticSummary: `page ${page} of ${plan?.pages} of ${file}`.slice(0, longestSummary),
    staticDetails: `A part of the run \`${runId}\`: state, figures and updates are on the page of that workflow.`,
  };
  try {
    return await run.pageWorkflow.untilEnded(
      () => startChild(enrichmentPage, { ...options, args: [input] }),
      isHistoryLong,
    );
  } finally {
    if (run.pageWait !== null) run.pageWaits(null);
  }
}

/**
 * Every call is made: waits for late results until the last deadline. A run that was over budget waits no longer than
 * until a budget is changed or a person resumes the run.
 *
 * @returns whether people who were over budget may have credits now: the budgets have changed, or late results that
 *   cost less than reserved have released credits
 */
async function awaitLateResults(run: RunState, end?: RunEnding): Promise<boolean> {
  const { late } = run;
  if (!late || run.isCancelling) return false;
  run.enter('awaiting late results');
  const isOverBudget = end?.ending === 'over_budget';
  const isResumed = run.watchResume();
  const hasChanged = (): boolean => isOverBudget && (run.budgetChanged || isResumed());
  await late.sync();
  const isOver = (): boolean => late.status.awaited === 0 || run.isCancelling || hasChanged();
  await late.untilEnough(() => isOver() || isHistoryLong());
  if (!isOver()) await run.continueAsNew(hasChanged);
  // An update that the run has accepted may be about to change a budget.
  if (isOverBudget) await condition(allHandlersFinished);
  return isOverBudget && (hasChanged() || run.arrived !== end.arrivedBefore);
}

/** Ends the run. People who were not asked for get the outcome of the ending. */
async function finish(run: RunState, end: RunEnding): Promise<RunFacts> {
  const { ending, budget } = end;
  run.late?.close();
  run.enter('finishing');
  // Answers of a cancelled run were paid for, and other contacts can be their people.
  const hasCalled = (run.figures?.facts.calls ?? 0) > 0;
  if (ending !== 'cancelled' || hasCalled) await reconcile(run);
  const facts = await quick.finishRun.executeWithOptions(
    { summary: `every row gets its outcome (${ending})` },
    [{ runId: run.runId, ending, ...(budget !== undefined && { budget }) }],
  );
  run.showFigures(facts);
  if (facts.status === 'paused') {
    await untilPauseIsSeen(run, facts);
    return finish(run, run.isCancelling ? { ...end, ending: 'cancelled' } : end);
  }
  run.enter(ending === 'cancelled' ? 'cancelled' : 'finished');
  await condition(allHandlersFinished);
  return facts;
}

/**
 * The tables have paused the run after its last call: late results were billed above their worst case, or the database
 * has lost calls. A person may have resumed it there before this workflow could be resumed.
 */
async function untilPauseIsSeen(run: RunState, facts: RunFacts): Promise<void> {
  const { reason_type: type, reason, next } = facts;
  const isResumed = run.watchResume();
  run.enter('paused');
  await run.readFigures();
  if (run.figures?.facts.status === 'paused' && !isResumed())
    await run.untilResumed({ type: type ?? 'service.overbilled', reason: reason ?? '', next: next ?? '' });
}

/** Fails a run that needs another file or other options, and cannot continue. */
async function fail(run: RunState, why: StatusReason): Promise<never> {
  run.pauseReason = why;
  await run.setStatus('failed', why);
  run.enter('failed');
  throw ApplicationFailure.nonRetryable(`${why.reason}\n  next:  ${why.next}`, why.type);
}
