import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowHandle } from '@temporalio/client';
import { taskPriorities } from '../../../contract/run-priorities.ts';
import type { RunStatus } from '../../../contract/run-statuses.ts';
import { controlTaskQueue, workflowTypes } from '../../../contract/temporal-names.ts';
import { describeStart, startAttributes } from '../../../domain/runs/run-start.ts';
import { runInputOf } from '../../../runs/run-input.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../runs/runs.ts';
import { knownFailure, requireKeys, sendUpdate, tellingWait } from './send-update.ts';
import type { Session } from '../../session/session.ts';
import { isUpdateRefused, isWorkflowGone, registerSearchAttributes } from '../../../temporal/connection.ts';

const stillPaused = 'waiting for a worker: the run stays paused until a worker resumes it';

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
  const status = run.planHash === null ? 'ingesting' : approved ? 'running' : 'planning';
  const clearInTables = (cleared: RunStatus) =>
    setRunStatus(session.warehouse, run.runId, cleared, undefined, { byPerson: true });
  try {
    await tellingWait(session, stillPaused, () => handle.executeUpdate('resume'));
    // A run that was paused before its approval awaits the approval again. A plan that is newer was not seen.
    const isApproving = approved && run.planHash !== null;
    if (!isApproving || (await getRun(session.warehouse, run.runId)).status !== 'awaiting_approval')
      return true;
    return await sendUpdate(session, run.runId, 'approve', [run.planHash]);
  } catch (error) {
    if (isUpdateRefused(error)) {
      // `enrich pause` was interrupted before the workflow refused its update.
      const awaitsApproval = approved && !run.isApproved && run.planHash !== null;
      if (awaitsApproval && (await sendUpdate(session, run.runId, 'approve', [run.planHash]))) return true;
      // The run was planned meanwhile, and awaits the approval of a plan that this command has not seen.
      if ((await getRun(session.warehouse, run.runId)).status !== 'paused') return true;
      // Only the command that waited for the run was interrupted. The workflow is not there yet, or has no call left.
      const isUnapproved = !approved && !run.isApproved && run.planHash !== null;
      await clearInTables(isUnapproved ? 'awaiting_approval' : status);
      return true;
    }
    if (!isWorkflowGone(error)) throw knownFailure(error, run.runId) ?? error;
    // Another command's worker may have ended the run in the meantime.
    if (await hasEnded(session, run.runId)) return true;
    await clearInTables(status);
    return false;
  }
}

async function hasEnded({ warehouse }: Session, runId: string): Promise<boolean> {
  return (await getRun(warehouse, runId)).finishedAt !== null;
}
