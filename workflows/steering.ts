import { CancellationScope, setHandler } from '@temporalio/workflow';
import { cancellationReason, pauseByOperator, type OperatorReason } from '../src/contract/pause-reasons.ts';
import { isInProgress, statusText } from '../src/contract/run-transitions.ts';
import { hasPersonalData } from '../src/domain/text/without-personal-data.ts';
import {
  approveUpdate,
  budgetChangedSignal,
  cancelUpdate,
  deliveryReceivedSignal,
  pageWaitsSignal,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
} from './messages.ts';
import { type RunState } from './run-state.ts';

/**
 * Adds the handlers of a run's signals, updates and queries before the run's first step, so that no message is lost.
 */
export function installSteering(run: RunState): void {
  answerQueriesAndSignals(run);
  acceptApproval(run);
  acceptPauseAndResume(run);
  setHandler(
    cancelUpdate,
    uncancellable((why: OperatorReason) => cancelRun(run, why ?? '')),
    {
      description: 'Send no further call and end the run; what is paid for is kept. Argument: why.',
      validator: requireNoPerson,
    },
  );
}

function answerQueriesAndSignals(run: RunState): void {
  setHandler(progressQuery, () => run.progress, {
    description: 'How far the run is: status, page, plan, calls, credits, late results.',
  });
  setHandler(deliveryReceivedSignal, () => run.late?.deliveryReceived(), {
    description: 'The inbox has a delivery: sent by the receiver; sending it by hand does no harm.',
  });
  setHandler(pageWaitsSignal, (why: unknown) => run.pageWaits(typeof why === 'string' ? why : null), {
    description: 'Why the open page waits until the next call may begin: sent by the page.',
  });
  setHandler(budgetChangedSignal, () => void (run.budgetChanged = true), {
    description:
      'A budget that the run waits for was changed: sent by enrich budget set; sending it by hand does no harm.',
  });
}

/** Makes an update's handler. It runs to its end even if the workflow is cancelled in Temporal meanwhile. */
function uncancellable<Args extends unknown[], Result>(
  carryOut: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return (...args) => CancellationScope.nonCancellable(() => carryOut(...args));
}

/** Adds the update `approve`, which needs the hash of the plan that the operator has read. */
function acceptApproval(run: RunState): void {
  // The update returns after the status has changed, so that its client then reads `running`.
  const approve = async (): Promise<void> => void (await run.setStatus(run.work, undefined, 'approval'));
  setHandler(approveUpdate, uncancellable(approve), {
    description: 'Allow the run to spend what its plan says. Argument: the hash of the plan.',
    validator: (planHash: string) => {
      if (!run.plan || run.isCancelling) throw new Error(`${stateOf(run)}: there is nothing to approve`);
      const { plan_hash: own } = run.plan;
      if (planHash !== own) throw new Error(`the plan of this run has the hash ${own}`);
    },
  });
}

/** Adds the updates `pause` and `resume`, which return when the tables have the new status. */
function acceptPauseAndResume(run: RunState): void {
  const pause = async (why: OperatorReason): Promise<void> => {
    // A paused run keeps its first reason, which names the next step, such as to correct a refused credential.
    await run.setStatus('paused', pauseByOperator(run.runId, why ?? ''));
    await run.pageWorkflow.wake();
  };
  setHandler(pauseUpdate, uncancellable(pause), {
    description:
      'Send no further call until the run is resumed; calls in flight are recorded first. Argument: why.',
    validator: (why: OperatorReason) => {
      requireNoPerson(why);
      // A run that waits for a budget or for its pilot's late results continues automatically, so it can be paused.
      const mayCall = isInProgress(run.status) && run.ending === null;
      if (run.status !== 'paused' && !mayCall)
        throw new Error(`${stateOf(run)}: only a run that is about to make calls can be paused`);
    },
  });
  const resume = async (): Promise<void> => {
    run.budgetChanged = true;
    await run.setStatus(run.work, undefined, 'resume');
    // The command has just read how many calls the service has left, so the page may no longer need to wait.
    await run.pageWorkflow.wake();
  };
  setHandler(resumeUpdate, uncancellable(resume), {
    description: 'Continue a paused run.',
    validator: () => {
      // While a run ends, the tables can pause it for a reason that the operator has not seen.
      if (run.status !== 'paused' && (run.isEnding || run.isCancelling))
        throw new Error(`${stateOf(run)}: it is not paused`);
    },
  });
}

/** The state of a run for the error of a refused update. */
function stateOf(run: RunState): string {
  if (run.status === 'running' && run.ending) return 'the run has made its calls';
  return `the run is ${statusText(run.status)}`;
}

/** Sets the status `cancelling`, which the steps of the run check, and ends a wait of its page. */
export async function cancelRun(run: RunState, why: OperatorReason): Promise<void> {
  await run.setStatus('cancelling', cancellationReason(run.runId, why));
  await run.pageWorkflow.wake();
}

/**
 * Refuses a reason that names a person: the warehouse keeps it, analysts read it, and an erasure leaves it unchanged.
 */
function requireNoPerson(why: OperatorReason | null | undefined): void {
  if (why === undefined || why === null) return;
  const texts: unknown[] = typeof why === 'object' ? [why.by, why.reason] : [why];
  if (!texts.every((text) => typeof text === 'string')) throw new Error('the reason is a text');
  if (texts.some(hasPersonalData))
    throw new Error('the reason seems to name a person: leave out addresses, phone numbers and logins');
}
