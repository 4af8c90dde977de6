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
import { taskPriorities } from '../src/contract/temporal-names.ts';
import { maxSummaryLength } from '../src/contract/workflow-details.ts';
import { formatCount, formatPeopleCount } from '../src/domain/text/format.ts';
import {
  computingActivities,
  longActivities,
  quickActivities,
  useHeartbeatOf,
} from './control-activities.ts';
import { enrichmentPage } from './enrichment-page.ts';
import { RunState, isHistoryLong, mustContinueAsNew } from './run-state.ts';
import { cancelRun, installSteering } from './steering.ts';

/**
 * Runs one export: ingest → plan → (approve) → pages → finish. The state is in the database, so a workflow that starts
 * again continues from the tables.
 */
export async function enrichmentRun(input: RunInput): Promise<RunFacts> {
  useHeartbeatOf(input);
  const run = new RunState(input);
  installSteering(run);

  // A cancellation in Temporal ends the run like the update `cancel`: calls in flight are recorded, and every row gets
  // its outcome. Only then does the workflow end as cancelled.
  const cancelledInTemporal = CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => cancelRun(run, 'cancelled in Temporal'));
    throw error;
  });
  cancelledInTemporal.catch(() => {});
  const facts = await CancellationScope.nonCancellable(() => carryOut(run, input));
  if (CancellationScope.current().consideredCancelled) await cancelledInTemporal;
  return facts;
}

/** Carries out the steps that are left. Late results can release credits, so that pages follow again. */
async function carryOut(run: RunState, input: RunInput): Promise<RunFacts> {
  const plan = run.plan ?? (await prepare(run));
  // An execution that continued as new while it waited for the approval has made no call.
  if (!input.carried || !hasCalled(run)) {
    await run.untilResumed();
    if (!run.isCancelling) await reconcile(run);
  }
  if (input.checksService && plan.calls > 0) await untilServiceIsReady(run);
  for (;;) {
    run.ending ??= (await passPilot(run, plan)) ?? (await enrichPages(run, plan.pages));
    const end = run.ending;
    if (!(await awaitLateResults(run, end))) return finish(run, end);
    run.ending = null;
  }
}

/** Reads and plans the export. A refusal fails the run. */
async function prepare(run: RunState): Promise<PlanSummary> {
  const { runId } = run;
  run.show();
  const ingested = await longActivities.ingestExport.executeWithOptions(
    { summary: 'read the export into the staging table' },
    [{ runId }],
  );
  if (ingested.kind === 'refused') return fail(run, ingested.pauseReason);

  run.work = 'planning';
  await run.setStatus(run.work);
  const planned = await longActivities.planRun.executeWithOptions(
    {
      summary:
        `plan ${formatCount(ingested.rows, 'row')} of ${ingested.source}: ` +
        'what is worth asking for, and its price',
    },
    [{ runId }],
  );
  if (planned.kind === 'refused') return fail(run, planned.pauseReason);

  run.plan = planned.plan;
  run.work = 'running';
  run.page = Math.max(run.page, planned.firstOpenPage);
  await run.setStatus(run.work);
  return planned.plan;
}

/**
 * Compares contacts with stored people. Contacts can get the data of a stored person without a call, or lose the data
 * of a person who contradicts their cells.
 */
async function reconcile({ runId }: RunState): Promise<void> {
  await computingActivities.reconcileContacts.executeWithOptions(
    { summary: 'compare the contacts with the people who are known' },
    [{ runId }],
  );
}

/** Checks the credential of a scheduled run, because no command has checked it. A refused credential pauses the run. */
async function untilServiceIsReady(run: RunState): Promise<void> {
  while (run.service === null && !run.isCancelling) {
    if (run.pauseReason) {
      await run.untilResumed();
      continue;
    }
    const check = await quickActivities.checkService.executeWithOptions(
      { summary: 'whom the credential acts as, and what is left of the limits' },
      [{ runId: run.runId }],
    );
    if (check.kind === 'ready') run.service = check.status;
    else await run.setStatus('paused', check.pauseReason);
  }
}

/**
 * Looks up the people of the pilot and waits for their late results. Unless the quality gates let the run continue, the
 * run is then paused until the operator resumes it.
 *
 * @returns how the run ends, or undefined if it continues
 */
async function passPilot(run: RunState, { pilot, pages }: PlanSummary): Promise<RunEnding | undefined> {
  if (!pilot || run.isPilotPassed || pilot.pages === pages) return undefined;
  if (run.page <= pilot.pages) {
    const end = await enrichPages(run, pilot.pages);
    if (end.budget !== undefined) return end;
  }
  // An earlier execution may have made the pilot's calls and ended before their late results.
  if (run.page === pilot.pages + 1) await awaitLateResults(run);
  while (!run.isPilotPassed) {
    // The operator resumes a pause that is known. A judgement that follows this pause must not be skipped.
    await run.untilResumed();
    if (run.isCancelling) return undefined;
    const judgement = await quickActivities.judgePilot.executeWithOptions(
      { summary: `what the pilot of ${formatPeopleCount(pilot.people)} came to` },
      [{ runId: run.runId }],
    );
    run.isPilotPassed = judgement.kind !== 'postponed';
    await run.readFigures();
  }
  return undefined;
}

/**
 * Opens one page after another, until the last page is done, no credits are left, or the run is cancelled. A run that a
 * command pauses during its last calls stays paused.
 */
async function enrichPages(run: RunState, lastPage: number): Promise<RunEnding> {
  run.late?.start();
  let budget: string | undefined;
  const isLeft = (): boolean =>
    run.page <= lastPage || (isPausedByCommand(run.pauseReason) && lastPage === run.plan?.pages);
  while (isLeft() && !run.isCancelling && budget === undefined) {
    if (isHistoryLong()) await run.continueAsNew();
    else if (waitsForBudget(run.pauseReason)) budget = await resolveBudgetExhaustion(run);
    else if (run.pauseReason) await run.untilResumed();
    // After a failover to a lagging replica, the tables can have an earlier status, from before calls or the approval.
    else if (run.status !== 'running') await run.setStatus(run.work).then(() => run.untilResumed());
    else budget = await enrichPage(run, run.page);
  }
  await run.late?.stop();
  return { arrivedBefore: run.arrived, ...(budget !== undefined && { budget }) };
}

/** Enriches a page. @returns the budget that ends the run, or undefined if the run continues */
async function enrichPage(run: RunState, page: number): Promise<string | undefined> {
  run.show();
  const result = await runPageWorkflow(run, page);
  // The operator may have resumed the run after its page stopped, so the tables decide if it is paused or cancelled.
  await run.readFigures();
  if (result.kind === 'done') run.page += 1;
  const needsCredits = result.kind === 'over_budget' && run.pauseReason === null;
  return needsCredits ? resolveBudgetExhaustion(run) : undefined;
}

/** Runs a page as a child workflow, which keeps the history of the run short. */
async function runPageWorkflow(run: RunState, page: number): Promise<PageResult> {
  const { runId, plan } = run;
  const { file, batchConcurrency, priority, heartbeatSeconds } = run.input;
  const heartbeat = heartbeatSeconds === undefined ? {} : { heartbeatSeconds };
  const input = { runId, page, batchConcurrency, priority, ...heartbeat };
  const source = run.figures?.facts.source;
  const options = {
    workflowId: `${runId}/page-${page}`,
    // Calls inherit the fairness key: a Temporal server with fairness alternates the sources of one priority. Others
    // ignore it.
    priority: { priorityKey: taskPriorities[priority], ...(source && { fairnessKey: source }) },
    staticSummary: `page ${page} of ${plan?.pages} of ${file}`.slice(0, maxSummaryLength),
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
 * Waits for late results after the last call, until the last deadline.
 *
 * @returns true if people over budget may have credits now, because late results cost less than was reserved
 */
async function awaitLateResults(run: RunState, end?: RunEnding): Promise<boolean> {
  const { late } = run;
  if (!late || run.isCancelling) return false;
  run.awaitsLateResults = true;
  run.show();
  await late.sync();
  const isOver = (): boolean => late.status.awaited === 0 || run.isCancelling;
  await late.untilEnough(() => isOver() || mustContinueAsNew());
  if (!isOver()) await run.continueAsNew();
  run.awaitsLateResults = false;
  run.show();
  return end?.budget !== undefined && !run.isCancelling && run.arrived !== end.arrivedBefore;
}

/** True if the run has made a call, by the facts last read. */
function hasCalled({ figures }: RunState): boolean {
  return (figures?.facts.calls ?? 0) > 0;
}

/** Ends the run. People who were not looked up get the outcome of the ending. */
async function finish(run: RunState, end: RunEnding): Promise<RunFacts> {
  const { runId } = run;
  run.isEnding = true;
  // The calls of a cancelled run were paid for, and their people can belong to more contacts.
  if (!run.isCancelling || hasCalled(run)) await reconcile(run);
  const ending = run.isCancelling ? 'cancelled' : end.budget === undefined ? 'finished' : 'over_budget';
  const facts = await run.inTables(() =>
    quickActivities.finishRun.executeWithOptions({ summary: `every row gets its outcome (${ending})` }, [
      { runId, ending, ...(end.budget !== undefined && { budget: end.budget }) },
    ]),
  );
  if (facts.status === 'paused') {
    // The run is paused for the operator: late results cost more than their worst case, or the database has lost calls.
    await run.untilResumed();
    return finish(run, end);
  }
  await condition(allHandlersFinished);
  return facts;
}

/** Fails a run that cannot continue without another file or other options. */
async function fail(run: RunState, why: StatusReason): Promise<never> {
  run.isEnding = true;
  await run.setStatus('failed', why);
  throw ApplicationFailure.nonRetryable(`${why.reason}\n  next:  ${why.next}`, why.type);
}

/**
 * Decides what a run does without credits for one more person. A waiting run continues when the budget is raised, its
 * next period begins, a late result releases credits, or the operator resumes it; it checks at least every hour.
 *
 * @returns the budget that ends the run, or undefined if the run continues or decides again
 */
async function resolveBudgetExhaustion(run: RunState): Promise<string | undefined> {
  run.budgetChanged = false;
  const { arrived, pauseReason: before } = run;
  const resolution = await quickActivities.resolveBudgetExhaustion.executeWithOptions(
    { summary: 'what is left of the budgets' },
    [{ runId: run.runId }],
  );
  // While the activity ran, the operator has paused, resumed or cancelled the run, or changed a budget.
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
  // If the operator has paused the run, the tables keep the pause.
  if (before) await run.setStatus('running');
  return resolution.kind === 'finish' && run.pauseReason === null ? resolution.budget : undefined;
}
