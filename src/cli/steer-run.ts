import type { SearchAttributePair } from '@temporalio/common';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowHandle } from '@temporalio/client';
import { controlTaskQueue, workflowTypes, type RunFacts, type RunInput } from '../contract.ts';
import { lateKindsOf } from '../domain/late-results.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { getRun, readRunFacts, setRunStatus, type RunRecord } from '../warehouse/runs.ts';
import { followRun, warnWithoutWorker } from './follow-run.ts';
import { tell } from './output.ts';
import type { Session } from './session.ts';
import { isWorkflowGone, registerSearchAttributes } from './temporal.ts';

/** Lanes of a page for each call that one worker keeps in the air: enough for a second worker to take its share. */
const lanesPerCall = 3;

/**
 * Starts the workflow of a run, or finds it running. The workflow's id is the run's: there is never a second one.
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
  const input: RunInput = {
    runId: run.runId,
    file: run.fileName,
    maxCredits: run.options.maxCredits,
    approved,
    lanes: lanesPerCall * session.config.callConcurrency,
    searchable,
    ...(lateKindsOf(run.options).length > 0 && {
      lateResults: { pollAfterSeconds: session.config.lateResults.pollAfterSeconds },
    }),
  };
  return client.workflow.start(workflowTypes.run, {
    taskQueue: controlTaskQueue,
    workflowId: run.runId,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    args: [input],
    staticSummary: `enrich ${run.fileName}`.slice(0, 180),
    staticDetails: [
      `| | |`,
      `|---|---|`,
      `| file | ${run.fileName} |`,
      `| content | sha256 ${run.fileSha256.slice(0, 16)}… |`,
      `| credits, at most | ${run.options.maxCredits ?? 'no limit of its own'} |`,
      `| steer | updates approve, pause, resume, cancel; or \`enrich pause ${run.runId}\` … |`,
    ].join('\n'),
    ...(searchable && { typedSearchAttributes: attributesOf(run) }),
  });
}

/** Gives the yes that a run waits for, clears a pause, and starts the workflow again where it was lost. */
export async function resumeRun(session: Session, run: RunRecord): Promise<WorkflowHandle> {
  const client = await session.temporal();
  const handle = client.workflow.getHandle(run.runId);
  if (run.status === 'awaiting_approval' && run.planHash !== null) {
    if (session.stack.temporal.embedded) await session.work();
    await steerRun(session, run.runId, 'approve', run.planHash);
    return handle;
  }
  if (run.status === 'paused') {
    // An update is carried out by a worker: where it is ours to start, it has to be there first.
    if (session.stack.temporal.embedded) await session.work();
    try {
      await handle.executeUpdate('resume');
      return handle;
    } catch (error) {
      if (!isWorkflowGone(error)) throw error;
      await setRunStatus(
        session.warehouse,
        run.runId,
        run.planHash === null ? 'ingesting' : 'running',
        undefined,
      );
    }
  }
  return startRunWorkflow(session, run, true);
}

/**
 * Waits for a run as `enrich run` and `enrich resume` do: with a worker of its own where Temporal is embedded, until the
 * run has ended or needs a person. Ctrl-C lets calls in the air end and leaves the run to be resumed.
 */
export async function waitForRun(session: Session, runId: string, handle: WorkflowHandle): Promise<RunFacts> {
  const interrupted = new AbortController();
  const interrupt = (): void => {
    if (interrupted.signal.aborted) process.exit(exitCodes.needsPerson);
    tell('\nstopping: calls in the air are waited for; once more stops at once');
    interrupted.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    if (!session.stack.temporal.embedded) await warnWithoutWorker(session);
    const worker = session.stack.temporal.embedded ? await session.work() : undefined;
    await Promise.race([
      followRun(session, runId, handle, interrupted.signal),
      worker?.ended ?? new Promise(() => {}),
    ]);
    if (interrupted.signal.aborted) await leaveRun(session, runId);
    return await readRunFacts(session.warehouse, runId);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** Nobody goes on with an embedded run whose command ends: it is paused, and says so. Elsewhere the workers go on. */
async function leaveRun(session: Session, runId: string): Promise<void> {
  const { status } = await getRun(session.warehouse, runId);
  if (status === 'running' && session.stack.temporal.embedded) {
    const next = `enrich resume ${runId}, or the same command again`;
    await setRunStatus(session.warehouse, runId, 'paused', {
      type: 'run.interrupted',
      reason: 'interrupted',
      next,
    });
  } else {
    tell(`the run goes on; to wait for it: enrich resume ${runId}`);
  }
}

/** Sends an update to a run that must be running. */
export async function steerRun(
  session: Session,
  runId: string,
  update: 'pause' | 'cancel' | 'approve',
  argument: string,
): Promise<void> {
  const run = await getRun(session.warehouse, runId);
  const client = await session.temporal();
  try {
    await client.workflow.getHandle(run.runId).executeUpdate(update, { args: [argument] });
  } catch (error) {
    if (!isWorkflowGone(error)) {
      const cause = (error as { cause?: Error }).cause;
      throw new Problem('run.not-steerable', cause?.message ?? (error as Error).message, {
        where: run.runId,
        next: `enrich status ${run.runId} shows how the run is`,
        cause: error,
      });
    }
    throw new Problem('run.ended', `run ${run.runId} is ${run.status} and has no workflow`, {
      where: run.runId,
      next: run.finishedAt === null ? `enrich resume ${run.runId} goes on with it` : 'nothing is left to do',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}

function attributesOf(run: RunRecord): SearchAttributePair[] {
  return [
    { key: { name: 'EnrichmentStatus', type: 'KEYWORD' }, value: 'ingesting' },
    { key: { name: 'EnrichmentFile', type: 'KEYWORD' }, value: run.fileName },
    { key: { name: 'EnrichmentAsOf', type: 'DATETIME' }, value: run.createdAt },
    ...(run.source === null
      ? []
      : [{ key: { name: 'EnrichmentSource', type: 'KEYWORD' } as const, value: run.source }]),
  ];
}
