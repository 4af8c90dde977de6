import { cancellation, needsResume, pauseByPerson } from '../../../contract/pause-reasons.ts';
import { isInProgress, statusText } from '../../../contract/run-statuses.ts';
import type { Warehouse } from '../../../db/database.ts';
import { Problem, UsageProblem } from '../../../domain/problem.ts';
import { endAbandonedRun } from '../../../runs/finish-run.ts';
import { firstOpenPage } from '../../../runs/pages/pages.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../runs/runs.ts';
import { isUpdateRefused } from '../../../temporal/connection.ts';
import type { Session } from '../../session/session.ts';
import { untilCallsAreRecorded } from '../follow/follow-run.ts';
import { requireKeys, sendUpdate, tellingWait } from './send-update.ts';

/**
 * Whether a run is paused until a person resumes it. Another pause would only replace its reason, and with it a quality
 * gate. A run that waits for a budget continues by itself, so a person can pause it.
 */
export function staysPaused({ status, pauseReason }: RunRecord): boolean {
  return status === 'paused' && needsResume(pauseReason);
}

const recorded =
  'recorded: the run makes no further call. Waiting for a worker, which carries it out; Ctrl-C is safe';

/**
 * Pauses a run. Writes the status to the database first: admission then refuses calls even if the update fails or the
 * command is interrupted, and the worker that this command starts for the update of an embedded run makes none. Does
 * nothing for a run that stays paused anyway.
 *
 * The status of a run without people left is not written first: its workflow can refuse the pause, and a command that
 * waits for the run would end meanwhile and report a paused run.
 */
export async function pauseRun(session: Session, run: RunRecord, reason: string): Promise<void> {
  requireUnfinished(run);
  if (staysPaused(run)) return;
  await requireKeys(session, run.runId);
  const { warehouse } = session;
  const mayCall = isInProgress(run.status) || run.status === 'paused';
  const isRecorded = mayCall && (await hasPeopleLeft(warehouse, run));
  const pauseReason = pauseByPerson(run.runId, reason);
  if (isRecorded) await setRunStatus(warehouse, run.runId, 'paused', pauseReason);
  try {
    if (session.stack.temporal.embedded) await session.work();
    const isSent = await tellingWait(session, isRecorded ? recorded : 'waiting for a worker', () =>
      sendUpdate(session, run.runId, 'pause', [reason]),
    );
    if (!isSent) {
      requireUnfinished(await getRun(warehouse, run.runId));
      if (!mayCall) throw notPausable(run);
      if (!isRecorded) await setRunStatus(warehouse, run.runId, 'paused', pauseReason);
    }
    // No later command might record the calls of a killed one: the worker of this command makes them unknown.
    if (session.stack.temporal.embedded)
      await untilCallsAreRecorded(session, run.runId, session.config.service.callTimeoutSeconds * 1_000);
  } catch (error) {
    // The workflow refuses to pause a run without calls left to make, or without an approval to make calls.
    if (isRecorded && error instanceof Problem && isUpdateRefused(error.cause))
      await setRunStatus(warehouse, run.runId, 'running', undefined, { byPerson: true });
    throw error;
  }
}

/** Says what the workflow of the run would say: the run has none any more. */
function notPausable({ runId, status }: RunRecord): UsageProblem {
  const what = `the run is ${statusText(status)}: only a run that is about to make calls can be paused`;
  return new UsageProblem('run.not-steerable', what, {
    where: runId,
    next: `see the status of the run: enrich status ${runId}`,
  });
}

/** Whether a run can still make calls. */
async function hasPeopleLeft(warehouse: Warehouse, { runId, planHash }: RunRecord): Promise<boolean> {
  return planHash === null || (await firstOpenPage(warehouse, runId)) !== undefined;
}

/**
 * Cancels a run and waits until the run has ended. Calls in flight end, paid results stay, and people without a call
 * become `cancelled`. Without a workflow, ends the run in the tables. Writes the status to the database first, as
 * `pauseRun` does.
 */
export async function cancelRun(session: Session, run: RunRecord, reason: string): Promise<void> {
  requireUnfinished(run);
  await requireKeys(session, run.runId);
  const { warehouse } = session;
  await setRunStatus(warehouse, run.runId, 'cancelling', cancellation(run.runId, reason));
  if (session.stack.temporal.embedded) await session.work();
  const update = (): Promise<boolean> => sendUpdate(session, run.runId, 'cancel', [reason]);
  if (await tellingWait(session, recorded, update)) {
    const handle = (await session.temporal()).workflow.getHandle(run.runId);
    await handle.result().catch(() => {});
  }
  const { finishedAt } = await getRun(warehouse, run.runId);
  if (finishedAt === null) await endAbandonedRun(warehouse, run.runId);
}

/** @throws Problem `run.ended` */
export function requireUnfinished(run: RunRecord): void {
  if (run.finishedAt === null) return;
  throw new UsageProblem('run.ended', `run ${run.runId} has ended: it is ${run.status}`, {
    where: run.runId,
    next: 'nothing is left to do; the same file can be run again',
  });
}
