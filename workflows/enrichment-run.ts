import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  continueAsNew,
  executeChild,
  workflowInfo,
} from '@temporalio/workflow';
import {
  taskPriorities,
  type PlanSummary,
  type RunFacts,
  type RunInput,
  type PauseReason,
} from '../src/contract.ts';
import { counted, countedPeople } from '../src/domain/text/counted.ts';
import { resolveBudgetExhaustion } from './budget-pause.ts';
import { long, quick } from './control-activities.ts';
import { enrichmentPage } from './enrichment-page.ts';
import { RunState } from './run-state.ts';
import { cancelRun, installSteering } from './steering.ts';

/** How a run ends: `budget` had no credits left for the rest. */
interface Ending {
  readonly ending: 'finished' | 'over_budget' | 'cancelled';
  readonly budget?: string;
}

/**
 * One run of one export: ingest → plan → (approve) → pages → finish. Its truth is in the database: started anew after
 * any loss it continues where the tables say.
 */
export async function enrichmentRun(input: RunInput): Promise<RunFacts> {
  const run = new RunState(input);
  installSteering(run);

  // A cancellation in Temporal itself ends the run in the same order as our own update: calls in flight are waited for
  // and every row gets its outcome; only then is the workflow cancelled for Temporal as well.
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
  const plan = await prepare(run, input);
  if (input.checksService && plan.calls > 0) await untilServiceIsReady(run);
  for (;;) {
    const end = (await passPilot(run, input, plan)) ?? (await enrichPages(run, input, plan.pages));
    const arrived = run.late?.status.arrived;
    await awaitLateResults(run);
    if (run.isCancelling) return finish(run, { ending: 'cancelled' });
    // What results cost less than was reserved for them may pay for people who were over budget before.
    if (end.ending === 'finished' || run.late?.status.arrived === arrived) return finish(run, end);
  }
}

/** Ingest, plan, and the word that the run may spend. */
async function prepare(run: RunState, input: RunInput): Promise<PlanSummary> {
  const { runId } = run;
  run.enter('ingesting');
  const ingested = await long.ingestExport.executeWithOptions(
    { summary: 'read the export into the staging table' },
    [{ runId }],
  );
  if (ingested.kind === 'refused') return fail(run, ingested.pauseReason);

  run.enter('planning');
  const planned = await long.planRun.executeWithOptions(
    {
      summary: `plan ${counted(ingested.rows, 'row')} of ${ingested.source}: what is worth asking for, and its price`,
    },
    [{ runId }],
  );
  if (planned.kind === 'refused') return fail(run, planned.pauseReason);
  run.plan = planned.plan;

  if (input.carried) {
    // Its status is in the tables: to write that it is running could lift a pause that came meanwhile.
  } else if (run.approved) {
    await run.setStatus('running');
  } else {
    await run.setStatus('awaiting_approval');
    run.enter('awaiting approval');
    await condition(() => run.approved || run.isCancelling);
  }
  run.page = Math.max(run.page, planned.firstOpenPage);
  return planned.plan;
}

/** Scheduled runs are unattended: with a refused credential they pause before they spend anything. */
async function untilServiceIsReady(run: RunState): Promise<void> {
  while (!run.isCancelling) {
    const check = await quick.checkService.executeWithOptions(
      { summary: 'whom the credential acts as, and what is left of the limits' },
      [{ runId: run.runId }],
    );
    if (check.kind === 'ready') {
      run.service = check.status;
      return;
    }
    await run.setStatus('paused', check.pauseReason);
    await run.untilResumed(check.pauseReason);
  }
}

/**
 * Asks for the people of the pilot, waits for all that they cost and bring, and for a word where the run should not
 * continue by itself.
 *
 * @returns how the run ends, where it ends here
 */
async function passPilot(run: RunState, input: RunInput, plan: PlanSummary): Promise<Ending | undefined> {
  const { pilot, pages } = plan;
  if (!pilot || run.isPilotPassed || pilot.pages === pages) return undefined;
  if (run.page <= pilot.pages) {
    const end = await enrichPages(run, input, pilot.pages);
    if (end.ending === 'over_budget') return end;
    await awaitLateResults(run);
    if (run.isCancelling) return end;
  }
  const resumesBefore = run.resumes;
  const judged = await quick.judgePilot.executeWithOptions(
    { summary: `what the pilot of ${countedPeople(pilot.people)} came to` },
    [{ runId: run.runId }],
  );
  // The tables say that it is paused before this is told so: it may have been resumed by now.
  if (judged.kind === 'pause' && run.resumes === resumesBefore) await run.untilResumed(judged.pauseReason);
  run.isPilotPassed = true;
  return undefined;
}

/** Opens page after page up to the last, until no credits are left, or the run is cancelled. */
async function enrichPages(run: RunState, input: RunInput, pages: number): Promise<Ending> {
  let over = false;
  const watch = (): Promise<void> | undefined => run.late?.watch(() => over, { moreToCome: true });
  let watching = watch();
  const endWatch = async (): Promise<void> => {
    over = true;
    await watching;
  };
  while (run.page <= pages && !run.isCancelling) {
    const { page } = run;
    if (run.skipping.has(page)) {
      await condition(() => run.skipped.has(page) || !run.skipping.has(page));
      if (run.skipped.has(page)) run.page += 1;
      continue;
    }
    run.enter('enriching');
    const resumesBefore = run.resumes;
    const result = await openPage(run, page, pages);
    run.count(result.tally);
    if (run.skipping.has(page)) continue;
    if (result.kind === 'over_budget') {
      const budget = await resolveBudgetExhaustion(run, result.tally.calls);
      if (budget === undefined) continue;
      await endWatch();
      return { ending: 'over_budget', budget };
    }
    // A page that was stopped may end after the run was resumed: then it is simply opened again.
    if (result.kind === 'stopped' && !run.isCancelling && run.resumes === resumesBefore) {
      await run.untilResumed(run.pauseReason ?? result.pauseReason);
      continue;
    }
    if (result.kind === 'done') run.page += 1;
    if (workflowInfo().continueAsNewSuggested && run.page <= pages && !run.isHeld) {
      await endWatch();
      await condition(allHandlersFinished);
      // A word that came meanwhile is for this execution to carry out: the next would know nothing of it.
      if (!run.isHeld) await goOnAnew(run, input);
      over = false;
      watching = watch();
    }
  }
  await endWatch();
  return { ending: 'finished' };
}

/** Continues from here with an empty history. */
function goOnAnew({ page, tally, priority }: RunState, input: RunInput): Promise<never> {
  return continueAsNew<typeof enrichmentRun>({
    ...input,
    approved: true,
    checksService: false,
    priority,
    carried: { page, tally },
  });
}

function openPage(run: RunState, page: number, pages: number): ReturnType<typeof enrichmentPage> {
  const { runId, batchConcurrency, priority } = run;
  const workflowId = `${runId}/page-${String(page).padStart(4, '0')}`;
  return run.whileOpen(workflowId, () =>
    executeChild(enrichmentPage, {
      workflowId,
      args: [{ runId, page, batchConcurrency, priority }],
      priority: { priorityKey: taskPriorities[priority] },
      staticSummary: `page ${page} of ${pages}`,
    }),
  );
}

/** Every call is made; what comes later is waited for until the deadline of the last of them. */
async function awaitLateResults(run: RunState): Promise<void> {
  const { late } = run;
  if (!late || run.isCancelling) return;
  run.enter('awaiting late results');
  await late.sync();
  await late.watch(() => late.status.awaited === 0 || run.isCancelling, { moreToCome: false });
}

/** Ends the run; people who were not asked for get the outcome that says why. */
async function finish(run: RunState, end: Ending): Promise<RunFacts> {
  run.late?.close();
  run.enter('finishing');
  const facts = await quick.finishRun.executeWithOptions(
    { summary: `every row gets its outcome (${end.ending})` },
    [{ runId: run.runId, ...end }],
  );
  run.enter(end.ending === 'cancelled' ? 'cancelled' : 'finished');
  await condition(allHandlersFinished);
  return facts;
}

/** A failure is for what needs another file or other options: the run cannot continue. */
async function fail(run: RunState, why: PauseReason): Promise<never> {
  run.pauseReason = why;
  await run.setStatus('failed', why);
  run.enter('failed');
  throw ApplicationFailure.nonRetryable(`${why.reason}\n  next:  ${why.next}`, why.type);
}
