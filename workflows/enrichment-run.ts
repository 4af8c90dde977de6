import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  executeChild,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import {
  controlTaskQueue,
  type ControlActivities,
  type PageResult,
  type PlanSummary,
  type RunFacts,
  type RunInput,
  type RunStatus,
  type Stop,
} from '../src/contract.ts';
import { enrichmentPage } from './enrichment-page.ts';
import { LateResults } from './late-results.ts';
import {
  approveUpdate,
  cancelUpdate,
  mailSignal,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  wakeSignal,
  type RunProgress,
} from './messages.ts';
import { progressTable } from './progress-table.ts';
import { add, nothing } from './tally.ts';

const quick = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { maximumInterval: '30 seconds' },
});

/** Ingest and plan of a large file take minutes; the heartbeat tells a dead worker from a busy one. */
const long = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: { maximumInterval: '30 seconds' },
});

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const rowsAttribute = { name: 'EnrichmentRows', type: 'INT' } as const;
const creditsAttribute = { name: 'EnrichmentCreditsSettled', type: 'DOUBLE' } as const;

/**
 * One run of one export: ingest → plan → (approve) → pages → finish. Its truth is in the database: started anew after any
 * loss it goes on where the tables say.
 */
export async function enrichmentRun(input: RunInput): Promise<RunFacts> {
  const { runId } = input;
  let phase: RunProgress['phase'] = 'ingesting';
  let plan: PlanSummary | null = null;
  let service: string | null = null;
  let stop: Stop | null = null;
  let approved = input.approved;
  let cancelling: string | undefined;
  let page = input.carried?.page ?? 0;
  let tally = input.carried?.tally ?? nothing;
  let openChild: string | undefined;
  let resumes = 0;

  const late =
    input.lateResults &&
    new LateResults({
      take: (summary) => long.settleLateResults.executeWithOptions({ summary }, [{ runId }]),
      onLook: () => show(),
      pollAfterMilliseconds: input.lateResults.pollAfterSeconds * 1_000,
    });

  const progress = (): RunProgress => ({
    phase,
    page,
    pages: plan?.pages ?? 0,
    plan,
    service,
    stop,
    tally,
    late: late?.standing ?? null,
  });
  const show = (): void => setCurrentDetails(progressTable(progress()));
  const enter = (next: RunProgress['phase']): void => {
    phase = next;
    if (input.searchable) {
      upsertSearchAttributes([
        { key: statusAttribute, value: next },
        ...(plan ? [{ key: rowsAttribute, value: plan.rows }] : []),
        { key: creditsAttribute, value: Number(tally.creditsSettled) },
      ]);
    }
    show();
  };
  const wake = async (): Promise<void> => {
    if (openChild === undefined) return;
    // The page may have ended meanwhile: then there is nobody to wake.
    await getExternalWorkflowHandle(openChild)
      .signal(wakeSignal)
      .catch(() => {});
  };
  // One after another, in the order in which they were asked for: a pause and a resume at the same moment would otherwise
  // be carried out in any order, and the database could say "running" after the pause was acknowledged.
  let changes: Promise<void> = Promise.resolve();
  const setStatus = (status: RunStatus, why?: Stop): Promise<void> => {
    const change = (): Promise<void> =>
      quick.setRunStatus.executeWithOptions({ summary: `run is ${status}` }, [
        { runId, status, ...(why && { stop: why }) },
      ]);
    changes = changes.then(change, change);
    return changes;
  };

  setHandler(progressQuery, progress, {
    description: 'How far the run is: phase, page, plan, calls, credits, late results.',
  });
  setHandler(mailSignal, () => late?.mail(), {
    description: 'A delivery lies in the inbox: sent by the receiver; sending it by hand does no harm.',
  });
  // Answered once the run may spend: whoever approves sees the run running, and not still waiting for a word.
  const approve = async (): Promise<void> => {
    await setStatus('running');
    approved = true;
  };
  setHandler(approveUpdate, approve, {
    description: 'Allow the run to spend what its plan says. Argument: the hash of the plan.',
    validator: (planHash: string) => {
      if (phase !== 'awaiting approval') throw new Error(`the run is ${phase}: there is nothing to approve`);
      if (planHash !== plan?.planHash) throw new Error(`the plan of this run has the hash ${plan?.planHash}`);
    },
  });
  setHandler(
    pauseUpdate,
    async (reason: string) => {
      stop = { type: 'run.paused', reason: reason || 'paused by hand', next: `enrich resume ${runId}` };
      await setStatus('paused', stop);
      await wake();
    },
    {
      description:
        'Send no further call until the run is resumed; calls in the air are waited for. Argument: why.',
      validator: (_reason: string) => {
        if (phase !== 'enriching')
          throw new Error(`the run is ${phase}: only a run that is enriching can be paused`);
      },
    },
  );
  setHandler(
    resumeUpdate,
    async () => {
      resumes += 1;
      const before = stop;
      await setStatus('running');
      // A pause that was asked for meanwhile holds.
      if (stop === before) stop = null;
    },
    {
      description: 'Go on after a pause.',
      validator: () => {
        if (phase !== 'paused' && phase !== 'enriching' && phase !== 'awaiting late results')
          throw new Error(`the run is ${phase}: it is not paused`);
        if (cancelling !== undefined) throw new Error('the run is being cancelled');
      },
    },
  );
  const cancel = async (reason: string): Promise<void> => {
    cancelling ??= reason;
    await setStatus('cancelling', { type: 'run.cancelled', reason, next: 'start the file again' });
    await wake();
  };
  setHandler(cancelUpdate, (reason: string) => cancel(reason || 'cancelled by hand'), {
    description: 'Send no further call and end the run; what is paid for is kept. Argument: why.',
  });

  /** Ends the run; people who were not asked for get the outcome that says why. */
  const finish = async (ending: 'finished' | 'over_budget' | 'cancelled'): Promise<RunFacts> => {
    late?.close();
    enter('finishing');
    const facts = await quick.finishRun.executeWithOptions(
      { summary: `every row gets its outcome (${ending})` },
      [{ runId, ending }],
    );
    enter(ending === 'cancelled' ? 'cancelled' : 'finished');
    await condition(allHandlersFinished);
    return facts;
  };
  /** A failure is for what needs another file or other options: the run cannot go on. */
  const fail = async (why: Stop): Promise<never> => {
    stop = why;
    await setStatus('failed', why);
    enter('failed');
    throw ApplicationFailure.nonRetryable(`${why.reason}\n  next:  ${why.next}`, why.type);
  };

  const untilResumed = async (why: Stop): Promise<void> => {
    stop = why;
    enter('paused');
    await condition(() => stop === null || cancelling !== undefined);
  };
  /** A schedule begins runs that nobody watches: with a credential that is refused they pause before they spend anything. */
  const untilServiceIsReady = async (): Promise<void> => {
    while (cancelling === undefined) {
      const check = await quick.checkService.executeWithOptions(
        { summary: 'whom the credential acts as, and what is left of the limits' },
        [{ runId }],
      );
      if (check.kind === 'ready') {
        service = check.standing;
        return;
      }
      await setStatus('paused', check.stop);
      await untilResumed(check.stop);
    }
  };

  const enrich = async (): Promise<RunFacts> => {
    enter('ingesting');
    const ingested = await long.ingestExport.executeWithOptions(
      { summary: 'read the export into the staging table' },
      [{ runId }],
    );
    if (ingested.kind === 'refused') return fail(ingested.stop);

    enter('planning');
    const planned = await long.planRun.executeWithOptions(
      {
        summary: `plan ${ingested.rows} rows of ${ingested.source}: what is worth asking for, and its price`,
      },
      [{ runId }],
    );
    if (planned.kind === 'refused') return fail(planned.stop);
    plan = planned.plan;

    if (approved) {
      await setStatus('running');
    } else {
      await setStatus('awaiting_approval');
      enter('awaiting approval');
      await condition(() => approved || cancelling !== undefined);
    }

    if (input.checksService && plan.calls > 0) await untilServiceIsReady();
    page = Math.max(page, planned.firstOpenPage);
    for (;;) {
      const ending = await enrichPages(plan);
      const arrived = late?.standing.arrived;
      await awaitLateResults();
      if (cancelling !== undefined) return finish('cancelled');
      // What results cost less than was reserved for them may pay for people who were over budget before.
      if (ending === 'finished' || late?.standing.arrived === arrived) return finish(ending);
    }
  };

  /** Opens page after page, until there is none, no credits are left, or the run is cancelled. */
  const enrichPages = async ({ pages }: PlanSummary): Promise<'finished' | 'over_budget'> => {
    let over = false;
    const watching = late?.watch(() => over, { moreToCome: true });
    const endWatch = async (): Promise<void> => {
      over = true;
      await watching;
    };
    while (page <= pages && cancelling === undefined) {
      enter('enriching');
      const resumesBefore = resumes;
      openChild = `${runId}/page-${String(page).padStart(4, '0')}`;
      const result: PageResult = await executeChild(enrichmentPage, {
        workflowId: openChild,
        args: [{ runId, page, lanes: input.lanes }],
        staticSummary: `page ${page} of ${pages}`,
      });
      openChild = undefined;
      tally = add(tally, result.tally);
      if (result.kind === 'over_budget') {
        await endWatch();
        return 'over_budget';
      }
      // A page that was stopped may end after the run was resumed: then it is simply opened again.
      if (result.kind === 'stopped' && cancelling === undefined && resumes === resumesBefore) {
        await untilResumed(stop ?? result.stop);
        continue;
      }
      if (result.kind === 'done') page += 1;
      if (workflowInfo().continueAsNewSuggested && page <= pages && cancelling === undefined) {
        await endWatch();
        await condition(allHandlersFinished);
        await continueAsNew<typeof enrichmentRun>({
          ...input,
          approved: true,
          checksService: false,
          carried: { page, tally },
        });
      }
    }
    await endWatch();
    return 'finished';
  };

  /** Every call is made; what comes later is waited for until the deadline of the last of them. */
  const awaitLateResults = async (): Promise<void> => {
    if (!late || cancelling !== undefined) return;
    enter('awaiting late results');
    await late.look();
    await late.watch(() => late.standing.awaited === 0 || cancelling !== undefined, { moreToCome: false });
  };

  // A cancellation in Temporal itself ends the run in the same order as our own update: calls in the air are waited for
  // and every row gets its outcome; only then is the workflow cancelled for Temporal as well.
  const cancelledInTemporal = CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => cancel('cancelled in Temporal'));
    throw error;
  });
  cancelledInTemporal.catch(() => {});
  const facts = await CancellationScope.nonCancellable(enrich);
  if (CancellationScope.current().consideredCancelled) await cancelledInTemporal;
  return facts;
}
