import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowHandle } from '@temporalio/client';
import {
  cancellationReason,
  needsResume,
  pauseByOperator,
  type OperatorReason,
} from '../../contract/pause-reasons.ts';
import { taskPriorities, controlTaskQueue, workflowTypes } from '../../contract/temporal-names.ts';
import { isInProgress, statusText } from '../../contract/run-transitions.ts';
import { Problem, UsageProblem, exitCodes } from '../../domain/problem.ts';
import { describeStart, startAttributes } from '../../contract/workflow-details.ts';
import { approveRun, runInputOf, getRun, setRunStatus, type RunRecord } from '../../runs/runs.ts';
import { endAbandonedRun } from '../../runs/finish-run.ts';
import { isUpdateRefused, isWorkflowGone, registerSearchAttributes } from '../../temporal/connection.ts';
import { testHeartbeat } from '../../telemetry/kill-point.ts';
import type { Session } from '../session/session.ts';
import { withAnswerDeadline } from '../session/live-workers.ts';
import { printProgress } from '../terminal/output.ts';
import { untilCallsAreRecorded } from './follow-run.ts';

/** Resumes a paused run, or starts its lost workflow again. @param approves whether to approve the plan of `run` */
export async function resumeRun(
  session: Session,
  run: RunRecord,
  approves: boolean,
): Promise<WorkflowHandle> {
  await requireKeys(session, run.runId);
  // An update needs a running worker. With embedded Temporal, only this command has one.
  if (session.stack.temporal.embedded) await session.work();
  const client = await session.temporal();
  // The operator has read only the plan of `run`. A run that was paused before its plan is not approved.
  if (approves && run.status === 'awaiting_approval') await approveRun(session.warehouse, run.runId);
  const handle = client.workflow.getHandle(run.runId);
  return (await continueWorkflow(session, run, handle, approves)) ? handle : startRunWorkflow(session, run);
}

/** Resumes or approves the running workflow. @returns false if the run needs a new workflow */
async function continueWorkflow(
  session: Session,
  run: RunRecord,
  handle: WorkflowHandle,
  approves: boolean,
): Promise<boolean> {
  const { runId, status, plan } = run;
  if (status === 'cancelling') {
    // An earlier `enrich cancel` was interrupted, perhaps before its update reached the workflow.
    const isSent = await sendUpdate(session, runId, 'cancel', run.pauseReason?.reason ?? '');
    return isSent || hasEnded(session, runId);
  }
  const isPaused = status === 'paused';
  const update = (): Promise<void> =>
    isPaused ? handle.executeUpdate('resume') : handle.executeUpdate('approve', { args: [plan?.plan_hash] });
  // An operator's reset can return a workflow to the time before its approval. Any other workflow ignores this update.
  if (status === 'running') update().catch(() => {});
  if (!isPaused && !(approves && status === 'awaiting_approval')) return false;
  try {
    await update();
    return true;
  } catch (error) {
    const isRefused = isUpdateRefused(error);
    if (!isRefused && !isWorkflowGone(error)) throw error;
    // The workflow refuses if it has not reached this step or has no calls left. Then only the tables have the pause.
    const continued = plan ? 'running' : 'ingesting';
    await setRunStatus(session.warehouse, runId, continued, undefined, { byOperator: isPaused });
    // The worker of another command may have ended the run after its status was read.
    return isRefused || hasEnded(session, runId);
  }
}

/** Starts the workflow of a run, or finds it running: the run's id is the workflow's id. */
async function startRunWorkflow(session: Session, run: RunRecord): Promise<WorkflowHandle> {
  const { config, stack } = session;
  const client = await session.temporal();
  const searchable = await registerSearchAttributes(client);
  const parameters = runInputOf(run, {
    searchable,
    callConcurrency: config.callConcurrency,
    pollAfterSeconds: config.lateResults.pollAfterSeconds,
    // With embedded Temporal, this command has checked the API key. Workers of a server use a key of their own.
    checksService: !stack.temporal.embedded,
  });
  const input = { ...parameters, ...testHeartbeat() };
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

async function hasEnded({ warehouse }: Session, runId: string): Promise<boolean> {
  return (await getRun(warehouse, runId)).finishedAt !== null;
}

const recorded = 'recorded: the run makes no further call; waiting for a worker, which carries it out';

/** Pauses a run, in the database first: admission then refuses calls even if the workflow cannot be reached. */
export async function pauseRun(session: Session, run: RunRecord, why: OperatorReason): Promise<void> {
  requireUnfinished(run);
  const { runId, status } = run;
  // A second pause would hide the first reason, such as a quality gate. A run that waits for a budget can be paused.
  if (status === 'paused' && needsResume(run.pauseReason)) return;
  const { warehouse, stack, config } = session;
  if (!isInProgress(status) && status !== 'paused')
    throw new UsageProblem(
      'run.not-steerable',
      `the run is ${statusText(status)}: only a run that is about to make calls can be paused`,
      { where: runId, next: `see the status of the run: enrich status ${runId}` },
    );
  await requireKeys(session, runId);
  await setRunStatus(warehouse, runId, 'paused', pauseByOperator(runId, why));
  if (stack.temporal.embedded) await session.work();
  else printProgress(recorded);
  try {
    await sendUpdate(session, runId, 'pause', why);
  } catch (error) {
    // The workflow refuses to pause after the last call of its run.
    if (error instanceof Problem && isUpdateRefused(error.cause))
      await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true });
    throw error;
  }
  // The worker of this command marks calls of a killed command unknown. The wait gives the worker time to do so.
  if (stack.temporal.embedded)
    await untilCallsAreRecorded(session, runId, config.service.callTimeoutSeconds * 1_000);
}

/**
 * Cancels a run and waits for its end. The database gets the status first, so that no call begins without Temporal. If
 * no workflow ends the run, this function ends it.
 */
export async function cancelRun(session: Session, run: RunRecord, why: OperatorReason): Promise<void> {
  requireUnfinished(run);
  await requireKeys(session, run.runId);
  const { warehouse } = session;
  await setRunStatus(warehouse, run.runId, 'cancelling', cancellationReason(run.runId, why));
  if (session.stack.temporal.embedded) await session.work();
  else printProgress(recorded);
  if (await sendUpdate(session, run.runId, 'cancel', why)) {
    const handle = (await session.temporal()).workflow.getHandle(run.runId);
    await handle.result().catch(() => {});
  }
  if (!(await hasEnded(session, run.runId))) await endAbandonedRun(warehouse, run.runId);
}

export function requireUnfinished(run: RunRecord): void {
  if (run.finishedAt === null) return;
  throw new UsageProblem('run.ended', `run ${run.runId} has ended: it is ${run.status}`, {
    where: run.runId,
    next: 'nothing is left to do; the same file can be run again',
  });
}

/** Sends a decision and waits until the workflow has taken it. False: the workflow has ended. @throws Problem */
async function sendUpdate(
  session: Session,
  runId: string,
  update: 'pause' | 'cancel',
  why: OperatorReason,
): Promise<boolean> {
  const client = await session.temporal();
  try {
    await client.workflow.getHandle(runId).executeUpdate(update, { args: [why] });
    return true;
  } catch (error) {
    if (isWorkflowGone(error)) return false;
    const { message, cause } = error as Error & { cause?: unknown };
    throw new Problem('run.not-steerable', cause instanceof Error ? cause.message : message, {
      where: runId,
      next: `see the status of the run: enrich status ${runId}`,
      // The run's state forbids the command, so repeating the command does not help.
      exitCode: isUpdateRefused(error) ? exitCodes.usage : exitCodes.failed,
      cause: error,
    });
  }
}

/** Refuses if this command cannot decrypt a run's payloads: payloads with another key would stop the workflow. */
async function requireKeys(session: Session, runId: string): Promise<void> {
  const readSummary = async (): Promise<unknown> => {
    const { workflow } = await session.temporal();
    return (await workflow.getHandle(runId).describe()).staticSummary();
  };
  await withAnswerDeadline(session, readSummary).catch((error: unknown) => {
    if (error instanceof Problem && error.type.startsWith('codec.')) throw error;
  });
}
