import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, expect, it } from 'vitest';
import {
  budgetChangedSignalName,
  callTaskQueues,
  controlTaskQueue,
  workflowTypes,
} from '../../src/contract/temporal-names.ts';
import { workerVersioning, workflowIsolate } from '../../src/temporal/worker-options.ts';
import { holdFirstBatch } from '../helpers/temporal/holding.ts';
import { untilStatus } from '../helpers/temporal/play-run.ts';
import { runInput, ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';
import { startTestTemporal } from '../helpers/temporal/temporal.ts';
import { sharedWorkflowBundle } from '../helpers/temporal/workflow-bundle.ts';

const deploymentName = 'enrich';
const stopping: (() => Promise<unknown>)[] = [];

const temporal = await startTestTemporal();

afterAll(async () => {
  await Promise.all(stopping.map((stop) => stop()));
  await temporal.stop();
});

/** Starts workers of a build, and makes new runs begin with that build. */
async function release(buildId: string, activities = new ScriptedActivities()): Promise<ScriptedActivities> {
  const { workerConnection: connection, namespace, client } = temporal;
  const shared = { connection, namespace, activities, ...workerVersioning({ deploymentName, buildId }) };
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      ...workflowIsolate,
      workflowBundle: sharedWorkflowBundle(),
      taskQueue: controlTaskQueue,
    }),
    Worker.create({ ...shared, taskQueue: callTaskQueues['ad-hoc'] }),
  ]);
  const ended = workers.map((worker) => worker.run());
  stopping.push(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(ended);
  });
  // The Temporal server knows a version only after the workers of the version have polled.
  const makeCurrent = () =>
    client.workflowService
      .setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: 'test' })
      .then(
        () => undefined,
        (error: unknown) => String(error),
      );
  await expect.poll(makeCurrent).toBeUndefined();
  return activities;
}

function start(): Promise<WorkflowHandle> {
  const runId = `run-${randomUUID()}`;
  return temporal.client.workflow.start(workflowTypes.run, {
    workflowId: runId,
    taskQueue: controlTaskQueue,
    args: [runInput(runId)],
  });
}

/** Waits until the run continues on a build. Temporal tells a run about a new build only some events later. */
async function untilMoved({ workflowId }: WorkflowHandle, buildId: string): Promise<WorkflowHandle> {
  // The handle that start() returns stays at the first execution of the run.
  const run = temporal.client.workflow.getHandle(workflowId);
  const move = async (): Promise<unknown> => {
    await run.signal(budgetChangedSignalName);
    const { raw } = await run.describe();
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  };
  await expect.poll(move, { interval: 200 }).toBe(buildId);
  return run;
}

const batches = [1, 101, 102, 2, 3];

it('a pinned run makes its calls with the build that began it, while new runs begin with the new build', async () => {
  const { activities: old, letGo, begun } = holdFirstBatch();
  await release('build-1', old);
  const before = await start();
  await expect.poll(begun).toBe(true);

  const next = await release('build-2');
  const after = await start();
  await after.result();
  letGo();
  await before.result();

  expect([old.batches.sort(), next.batches.sort()]).toEqual([batches, batches]);
  expect([old.ending, next.ending]).toEqual(['finished', 'finished']);
});

it('a pinned run that waits for approval moves to the new build, and reconciles its contacts there', async () => {
  const old = await release('build-3');
  old.isApproved = false;
  const run = await start();
  await untilStatus(run, 'awaiting_approval');

  const next = await release('build-4');
  next.isApproved = false;
  next.write('awaiting_approval');
  const moved = await untilMoved(run, 'build-4');
  expect([old.comparisons, next.comparisons]).toEqual([0, 0]);
  await moved.executeUpdate('approve', { args: [next.plan.plan_hash] });
  await moved.result();
  // Contacts are reconciled before the calls and after the calls.
  expect([next.comparisons, next.batches.sort()]).toEqual([2, batches]);
});
