import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowHandle } from '@temporalio/client';
import type { PauseReason } from '../../../contract/pause-reasons.ts';
import type { RunFacts } from '../../../contract/run-facts.ts';
import { taskPriorities } from '../../../contract/run-priorities.ts';
import { isInProgress } from '../../../contract/run-statuses.ts';
import { controlTaskQueue, workflowTypes } from '../../../contract/temporal-names.ts';
import { describeStart, startAttributes } from '../../../domain/runs/run-start.ts';
import { runInputOf } from '../../../runs/run-input.ts';
import { readRunFacts } from '../../../runs/read-run-facts.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../runs/runs.ts';
import { onInterruption } from '../../../dev/interruption.ts';
import { isWorking } from '../describe/present-status.ts';
import { knownFailure, requireKeys, sendUpdate, tellingWait } from './send-update.ts';
import { followRun, untilCallsAreRecorded, warnWithoutWorker, type OnPlan } from '../follow/follow-run.ts';
import { tell } from '../../terminal/output.ts';
import type { Session } from '../../session/session.ts';
import { isUpdateRefused, isWorkflowGone, registerSearchAttributes } from '../../../temporal/connection.ts';

/**
 * Starts the workflow of a run, or finds it running. The workflow's id is the run's id, so a run never has two.
 *
 * @param approved the run may spend what its plan says
 */
export async function startRunWorkflow(
  session: Session,
  run: RunRecord,
  approved: boolean,
): Promise<WorkflowHandle> {
  const client = await session.temporal();
  const searchable = await registerSearchAttributes(client);
  const input = runInputOf(run, {
    approved,
    searchable,
    callConcurrency: session.config.callConcurrency,
    pollAfterSeconds: session.config.lateResults.pollAfterSeconds,
    // With embedded Temporal, this command has checked the credential. Workers of a server have their own.
    checksService: !session.stack.temporal.embedded,
  });
  const start = {
    runId: run.runId,
    file: input.file,
    source: run.source ?? run.options.source,
    schedule: null,
    asOf: run.createdAt,
  };
  return client.workflow.start(workflowTypes.run, {
    taskQueue: controlTaskQueue,
    workflowId: run.runId,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    args: [input],
    priority: { priorityKey: taskPriorities[run.options.priority] },
    ...describeStart(start),
    ...(searchable && { typedSearchAttributes: [...startAttributes(start)] }),
  });
}

/**
 * Gives the approval that a run waits for, clears a pause, and starts the workflow again where it was lost.
 *
 * @param approved the run may spend what its plan says; otherwise it waits for an approval
 */
export async function resumeRun(session: Session, run: RunRecord, approved = true): Promise<WorkflowHandle> {
  await requireKeys(session, run.runId);
  // An update waits for a worker, and embedded Temporal has only this command's.
  if (session.stack.temporal.embedded) await session.work();
  const client = await session.temporal();
  const handle = client.workflow.getHandle(run.runId);
  return (await continueWorkflow(session, run, handle, approved))
    ? handle
    : startRunWorkflow(session, run, approved);
}

/** @returns false if the run needs a new workflow: the server's data were lost, or the run was never started */
async function continueWorkflow(
  session: Session,
  run: RunRecord,
  handle: WorkflowHandle,
  approved: boolean,
): Promise<boolean> {
  if (approved && run.status === 'awaiting_approval' && run.planHash !== null) {
    if (await sendUpdate(session, run.runId, 'approve', [run.planHash])) return true;
    // The tables still have the plan, so the new workflow starts approved.
    await setRunStatus(session.warehouse, run.runId, 'running', undefined, { byPerson: true });
    return false;
  }
  if (run.status === 'paused') return clearPause(session, run, handle, approved);
  if (run.status === 'cancelling') {
    // `enrich cancel` was interrupted, perhaps before its update arrived.
    const isSent = await sendUpdate(session, run.runId, 'cancel', [run.pauseReason?.reason ?? '']);
    return isSent || hasEnded(session, run.runId);
  }
  return false;
}

/** @returns as `continueWorkflow` */
async function clearPause(
  session: Session,
  run: RunRecord,
  handle: WorkflowHandle,
  approved: boolean,
): Promise<boolean> {
  const phase = run.planHash === null ? 'ingesting' : approved ? 'running' : 'planning';
  const clearInTables = () =>
    setRunStatus(session.warehouse, run.runId, phase, undefined, { byPerson: true });
  try {
    await tellingWait(session, stillPaused, () => handle.executeUpdate('resume'));
    return true;
  } catch (error) {
    if (isUpdateRefused(error)) {
      // `enrich pause` was interrupted before the workflow refused its update.
      const awaitsApproval = approved && !run.isApproved && run.planHash !== null;
      if (awaitsApproval && (await sendUpdate(session, run.runId, 'approve', [run.planHash]))) return true;
      // Only the command that waited for the run was interrupted. The workflow is not there yet, or has no call left.
      await clearInTables();
      return true;
    }
    if (!isWorkflowGone(error)) throw knownFailure(error, run.runId) ?? error;
    // Another command's worker may have ended the run in the meantime.
    if (await hasEnded(session, run.runId)) return true;
    await clearInTables();
    return false;
  }
}

async function hasEnded({ warehouse }: Session, runId: string): Promise<boolean> {
  return (await getRun(warehouse, runId)).finishedAt !== null;
}

/**
 * Lets a signal end the wait for a run. With embedded Temporal this process is also the worker: a signal lets calls in
 * flight end and pauses the run. With a Temporal server, a signal only ends the wait.
 *
 * A command calls this before it starts or resumes the run. Otherwise a signal in between ends the command as if there
 * were no run, and the run makes calls.
 */
export function interruptionOf(session: Session, runId: string): AbortSignal {
  const interrupted = new AbortController();
  // Stays until the command ends: a second signal must not stop the database while the worker still drains.
  onInterruption((_signal, exitCode, repeated) => {
    if (repeated) {
      tell(`\nstopped at once; continue with: enrich resume ${runId}`);
      if (session.stack.temporal.embedded)
        tell(
          'the embedded servers run on; the next command, such as enrich schedule list, stops them when it ends',
        );
      process.exit(exitCode);
    }
    tell(whatStopDoes(session));
    interrupted.abort();
  });
  return interrupted.signal;
}

/** Waits until a run has ended or needs a person, as `enrich run` and `enrich resume` do. */
export async function waitForRun(
  session: Session,
  handle: WorkflowHandle,
  { onPlan, interrupted = interruptionOf(session, handle.workflowId) }: WaitOptions = {},
): Promise<RunFacts> {
  const runId = handle.workflowId;
  await warnWithoutWorker(session);
  const worker = session.stack.temporal.embedded ? await session.work() : undefined;
  await followRun(session, handle, interrupted, onPlan);
  if (interrupted.aborted) {
    await leaveRun(session, runId);
    if (worker)
      await untilCallsAreRecorded(session, runId, session.config.service.callTimeoutSeconds * 1_000);
  }
  const facts = await readRunFacts(session.warehouse, runId);
  return interrupted.aborted && !session.stack.temporal.embedded ? continuing(facts) : facts;
}

interface WaitOptions {
  readonly onPlan?: OnPlan | undefined;
  /** As `interruptionOf` returns it; default: from now on. */
  readonly interrupted?: AbortSignal | undefined;
}

function whatStopDoes({ stack, config }: Session): string {
  if (!stack.temporal.embedded) return '\nthe run continues on the workers';
  const seconds = config.service.callTimeoutSeconds;
  return [
    `\nstopping: no further call is sent; waiting up to ${seconds} s for calls in flight`,
    '  a second Ctrl-C stops at once: the cost of these calls is then unknown and stays reserved',
  ].join('\n');
}

/**
 * Distinguishes, for programs, a run that continues on the workers from a run that needs a person: both commands end
 * with 3.
 */
function continuing(facts: RunFacts): RunFacts {
  if (facts.reason_type !== null || !isWorking(facts)) return facts;
  return {
    ...facts,
    reason_type: 'run.continues',
    reason: 'a signal ended the command; the run continues on the workers',
    next: `enrich resume ${facts.run_id} waits for the run again; enrich pause ${facts.run_id} pauses it`,
  };
}

/**
 * An embedded run has no worker after its command ends, so the run is paused: the worker of another command would send
 * its calls. On a server the workers continue.
 */
export async function leaveRun(session: Session, runId: string): Promise<void> {
  if (!session.stack.temporal.embedded) return;
  const { status } = await getRun(session.warehouse, runId);
  const next = `enrich resume ${runId}, or the same command again`;
  if (isInProgress(status)) {
    await setRunStatus(session.warehouse, runId, 'paused', {
      type: 'run.interrupted',
      reason: 'interrupted',
      next,
    } satisfies PauseReason);
  } else {
    tell(`the run was interrupted (${status}); to continue it: ${next}`);
  }
}

const stillPaused = 'waiting for a worker: the run stays paused until a worker resumes it';
