import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { callTaskQueues, controlTaskQueue, workflowTypes, type RunInput } from '../../src/contract.ts';
import { workflowIsolate } from '../../src/temporal/workflow-isolate.ts';
import { recordHistories } from './histories.ts';
import type { ScriptedActivities } from './scripted-activities.ts';
import { startTestTemporal, type TestTemporal } from './temporal.ts';
import { sharedWorkflowBundle } from './workflow-bundle.ts';

/** A real Temporal server with the workflows, in which runs are played against scripted activities. */
export class Stage {
  readonly temporal: TestTemporal;
  readonly #bundle: NonNullable<WorkerOptions['workflowBundle']>;

  /** @param bundle of the workflows; the one that the workflow tests share unless said */
  constructor(
    temporal: TestTemporal,
    bundle = sharedWorkflowBundle() as NonNullable<WorkerOptions['workflowBundle']>,
  ) {
    this.temporal = temporal;
    this.#bundle = bundle;
  }

  static async open(): Promise<Stage> {
    return new Stage(await startTestTemporal());
  }

  /** Starts a run, acts on it, and records its history where that is asked for. */
  async play(
    activities: ScriptedActivities,
    act: (handle: WorkflowHandle) => Promise<unknown>,
    input: Partial<RunInput> = {},
  ): Promise<void> {
    const { client, workerConnection: connection, namespace } = this.temporal;
    const control = await Worker.create({
      connection,
      namespace,
      workflowBundle: this.#bundle,
      ...workflowIsolate,
      taskQueue: controlTaskQueue,
      activities,
    });
    const calls = await Promise.all(
      Object.values(callTaskQueues).map((taskQueue) =>
        Worker.create({ connection, namespace, taskQueue, activities }),
      ),
    );
    const runId = `run-${randomUUID()}`;
    const handle = await client.workflow.start(workflowTypes.run, {
      taskQueue: controlTaskQueue,
      workflowId: runId,
      args: [
        {
          runId,
          file: 'contacts.csv',
          maxCredits: null,
          approved: true,
          batchConcurrency: 2,
          priority: 'ad-hoc',
          searchable: true,
          checksService: false,
          ...input,
        } satisfies RunInput,
      ],
    });
    let played = async (): Promise<void> => {
      await act(handle);
      await recordHistories(client, { run: handle.workflowId, page: `${handle.workflowId}/page-0001` });
    };
    for (const worker of [control, ...calls]) {
      const inner = played;
      played = () => worker.runUntil(inner);
    }
    await played();
  }

  /** For how long a worker lets a workflow run without a pause, in milliseconds. */
  async isolateMilliseconds(): Promise<number> {
    const { workerConnection: connection, namespace } = this.temporal;
    const worker = await Worker.create({
      connection,
      namespace,
      workflowBundle: this.#bundle,
      ...workflowIsolate,
      taskQueue: 'nobody asks',
    });
    await worker.runUntil(Promise.resolve());
    return worker.options.isolateExecutionTimeoutMs;
  }

  close(): Promise<void> {
    return this.temporal.stop();
  }
}

/** How a run says that it is. */
export async function phaseOf(handle: WorkflowHandle): Promise<string> {
  return (await handle.query<{ phase: string }>('progress')).phase;
}
