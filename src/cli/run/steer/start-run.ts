import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowHandle } from '@temporalio/client';
import { taskPriorities } from '../../../contract/run-priorities.ts';
import { controlTaskQueue, workflowTypes } from '../../../contract/temporal-names.ts';
import { describeStart, startAttributes } from '../../../domain/runs/run-start.ts';
import { approveRun } from '../../../runs/approve-run.ts';
import { runInputOf } from '../../../runs/run-input.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../runs/runs.ts';
import { knownFailure, requireKeys, sendUpdate, tellingWait } from './send-update.ts';
import type { Session } from '../../session/session.ts';
import { testHeartbeatSeconds } from '../../../telemetry/kill-point.ts';
import { isUpdateRefused, isWorkflowGone, registerSearchAttributes } from '../../../temporal/connection.ts';

const waiting = 'waiting for a worker, which continues the run';

/** Starts the workflow of a run, or finds it running. The workflow's id is the run's id, so a run never has two. */
async function startRunWorkflow(session: Session, run: RunRecord): Promise<WorkflowHandle> {
  const client = await session.temporal();
  const searchable = await registerSearchAttributes(client);
  const heartbeat = testHeartbeatSeconds === undefined ? {} : { heartbeatSeconds: testHeartbeatSeconds };
  const parameters = runInputOf(run, {
    searchable,
    callConcurrency: session.config.callConcurrency,
    pollAfterSeconds: session.config.lateResults.pollAfterSeconds,
    // With embedded Temporal, this command has checked the credential. Workers of a server have their own.
    checksService: !session.stack.temporal.embedded,
  });
  const input = { ...parameters, ...heartbeat };
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
 * Approves the plan that a run shows to a person, clears a pause, and starts the workflow again where it was lost.
 *
 * @param approves false: a run without an approval awaits it again
 */
export async function resumeRun(session: Session, run: RunRecord, approves = true): Promise<WorkflowHandle> {
  await requireKeys(session, run.runId);
  // An update waits for a worker, and embedded Temporal has only this command's.
  if (session.stack.temporal.embedded) await session.work();
  const client = await session.temporal();
  // The person has not seen the plan of a run that was paused before it was planned, nor one that is newer than `run`.
  if (approves && run.status === 'awaiting_approval') await approveRun(session.warehouse, run.runId);
  const handle = client.workflow.getHandle(run.runId);
  return (await continueWorkflow(session, run, handle, approves)) ? handle : startRunWorkflow(session, run);
}

/** @returns false if the run needs a new workflow: the server's data were lost, or the run was never started */
async function continueWorkflow(
  session: Session,
  run: RunRecord,
  handle: WorkflowHandle,
  approves: boolean,
): Promise<boolean> {
  const { runId, status, plan } = run;
  if (status === 'cancelling') {
    // `enrich cancel` was interrupted, perhaps before its update arrived.
    const isSent = await sendUpdate(session, runId, 'cancel', [run.pauseReason?.reason ?? '']);
    return isSent || hasEnded(session, runId);
  }
  const isPaused = status === 'paused';
  const update = (): Promise<void> =>
    isPaused ? handle.executeUpdate('resume') : handle.executeUpdate('approve', { args: [plan?.planHash] });
  // A reset can take a workflow back before its approval. Every other workflow ignores the update.
  if (status === 'running') update().catch(() => {});
  if (!isPaused && !(approves && status === 'awaiting_approval')) return false;
  try {
    await tellingWait(session, waiting, update);
    return true;
  } catch (error) {
    const isRefused = isUpdateRefused(error);
    if (!isRefused && !isWorkflowGone(error)) throw knownFailure(error, runId) ?? error;
    // A workflow that refuses is not there yet, or has no call left: only the tables wait for a person.
    const continued = plan ? 'running' : 'ingesting';
    await setRunStatus(session.warehouse, runId, continued, undefined, { byPerson: isPaused });
    // Another command's worker may have ended the run in the meantime.
    return isRefused || hasEnded(session, runId);
  }
}

async function hasEnded({ warehouse }: Session, runId: string): Promise<boolean> {
  return (await getRun(warehouse, runId)).finishedAt !== null;
}
