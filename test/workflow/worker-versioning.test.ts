import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, expect, it } from 'vitest';
import { callTaskQueues, controlTaskQueue, workflowTypes } from '../../src/contract/temporal-names.ts';
import { workerVersioning, workflowIsolate } from '../../src/temporal/worker-options.ts';
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
async function release(buildId: string): Promise<ScriptedActivities> {
  const { workerConnection: connection, namespace, client } = temporal;
  const activities = new ScriptedActivities();
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
  // The server knows a version only after its workers have polled.
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

it('a pinned run ends with the build that it began with, while new runs begin with the new build', async () => {
  const pauseReason = {
    type: 'service.unauthorized',
    reason: 'the key was refused',
    next: 'set another key',
  };
  const old = await release('build-1');
  old.answer = (_, execution) => (execution === 2 ? { kind: 'stopped', pauseReason } : { kind: 'done' });
  const before = await start();
  await untilStatus(before, 'paused');

  const next = await release('build-2');
  const after = await start();
  await after.result();
  await before.executeUpdate('resume');
  await before.result();

  expect(next.batches.sort()).toEqual([1, 101, 102, 2, 3]);
  expect(old.batches.sort()).toEqual([1, 101, 102, 2, 3]);
  expect([old.ending, next.ending]).toEqual(['finished', 'finished']);
});
