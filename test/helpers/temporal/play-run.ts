import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { afterAll, expect } from 'vitest';
import type { CallActivities, ControlActivities, RunRequest } from '../../../src/contract/activities.ts';
import type { RunInput } from '../../../src/contract/run-input.ts';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';
import { callTaskQueues, controlTaskQueue, workflowTypes } from '../../../src/contract/temporal-names.ts';
import { workflowIsolate } from '../../../src/temporal/worker-options.ts';
import type { RunProgress } from '../../../workflows/run-details.ts';
import { recordHistories } from './histories.ts';
import { type ScriptedActivities, runInput } from './scripted-activities.ts';
import { startTestTemporal, type TestTemporal } from './temporal.ts';
import { sharedWorkflowBundle } from './workflow-bundle.ts';
import { figureRows } from '../../../src/contract/figure-rows.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import { outcomes } from '../../../src/domain/runs/outcome.ts';

/**
 * A real Temporal server that runs the workflows with scripted activities. All runs share its workers, because loading
 * the workflows takes longer than most runs.
 */
export class Stage {
  readonly temporal: TestTemporal;
  readonly #played: Map<string, ScriptedActivities>;
  readonly #working: Promise<unknown>;
  readonly #workers: readonly Worker[];

  private constructor(
    temporal: TestTemporal,
    workers: readonly Worker[],
    played: Map<string, ScriptedActivities>,
  ) {
    this.temporal = temporal;
    this.#workers = workers;
    this.#played = played;
    this.#working = Promise.all(workers.map((worker) => worker.run()));
    this.#working.catch(() => {});
  }

  /** @param bundle workflow bundle; default: the bundle that the workflow tests share */
  static async open(
    bundle: NonNullable<WorkerOptions['workflowBundle']> = sharedWorkflowBundle(),
  ): Promise<Stage> {
    const temporal = await startTestTemporal();
    const { workerConnection: connection, namespace } = temporal;
    const played = new Map<string, ScriptedActivities>();
    const activities = activitiesByRun(played);
    const control = Worker.create({
      connection,
      namespace,
      workflowBundle: bundle,
      ...workflowIsolate,
      taskQueue: controlTaskQueue,
      activities,
    });
    const calls = Object.values(callTaskQueues).map((taskQueue) =>
      Worker.create({ connection, namespace, taskQueue, activities }),
    );
    return new Stage(temporal, await Promise.all([control, ...calls]), played);
  }

  /** Opens the stage of a test file, at the top of the file, and closes it after the last test. */
  static async ofFile(): Promise<Stage> {
    const stage = await Stage.open();
    afterAll(() => stage.close());
    return stage;
  }

  /** Starts a run, acts on it, and records its history if `RECORD_HISTORIES` is set. */
  async play(
    activities: ScriptedActivities,
    act: (handle: WorkflowHandle) => Promise<unknown>,
    input: Partial<RunInput> = {},
  ): Promise<void> {
    const { client } = this.temporal;
    const runId = `run-${randomUUID()}`;
    this.#played.set(runId, activities);
    const handle = await client.workflow.start(workflowTypes.run, {
      taskQueue: controlTaskQueue,
      workflowId: runId,
      args: [runInput(runId, { searchable: true, ...input })],
    });
    try {
      await act(handle);
      await recordHistories(client, { run: runId, page: `${runId}/page-1` });
    } finally {
      // Terminates a run that the test has left unfinished; other runs have ended, so the error is ignored.
      await handle.terminate('its test is over').catch(() => {});
    }
  }

  /** Maximum time of workflow code without a pause, in milliseconds. */
  get isolateMilliseconds(): number {
    return this.#workers[0]!.options.isolateExecutionTimeoutMs;
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.shutdown();
    await this.#working;
    await this.temporal.stop();
  }
}

/** Activities that follow the script of their run. An interceptor can add arguments to the request. */
function activitiesByRun(played: ReadonlyMap<string, ScriptedActivities>): object {
  const byRun =
    (name: string) =>
    (request: RunRequest, ...added: unknown[]): unknown => {
      const script = played.get(request.runId) as unknown as Record<string, (...all: unknown[]) => unknown>;
      return script[name]!(request, ...added);
    };
  return Object.fromEntries(activitiesOfRuns.map((name) => [name, byRun(name)]));
}

const activitiesOfRuns = [
  'ingestExport',
  'planRun',
  'checkService',
  'setRunStatus',
  'readRunFacts',
  'openPage',
  'syncLateResults',
  'judgePilot',
  'resolveBudgetExhaustion',
  'reconcileContacts',
  'finishRun',
  'enrichBatches',
] as const satisfies readonly (keyof (ControlActivities & CallActivities))[];

/** Returns the status that a run reports. */
async function statusOf(handle: WorkflowHandle): Promise<RunStatus> {
  return (await handle.query<RunProgress>('progress')).status;
}

/** Waits until a run has this status. */
export function untilStatus(handle: WorkflowHandle, status: RunStatus): Promise<void> {
  return expect.poll(() => statusOf(handle)).toBe(status);
}

/** Resumes a paused run, and waits for its end. */
export async function resumeToEnd(handle: WorkflowHandle): Promise<void> {
  await handle.executeUpdate('resume');
  await handle.result();
}

/** Returns the type of what a run waits for; undefined if the run does not wait. */
export async function readWaitOf(handle: WorkflowHandle): Promise<string | undefined> {
  return (await handle.query<RunProgress>('progress')).waitsFor?.type;
}

/** Waits until a run waits for this reason. */
export function untilWaitsFor(handle: WorkflowHandle, type: string): Promise<void> {
  return expect.poll(() => readWaitOf(handle)).toBe(type);
}

/** Reads the current details of a workflow, as Temporal's UI shows them, as names and values. Needs a worker. */
export async function currentDetails(handle: WorkflowHandle): Promise<Record<string, string>> {
  const { currentDetails: text } = await handle.query<{ currentDetails: string }>(
    '__temporal_workflow_metadata',
  );
  const rows = text
    .replaceAll('\u00a0', ' ')
    .matchAll(/^\| (?:\*\*)?(.+?)(?:\*\*)? \| (?:\*\*)?(.*?)(?:\*\*)? \|$/gm);
  return Object.fromEntries([...rows].map(([, name, value]) => [name!, value!]));
}

/** Expects the details to show the same outcomes, sum, calls and credits as the tables. */
export function expectFiguresOf(details: Record<string, string>, facts: RunFacts): void {
  const shown = figureRows(facts).map(([name, value]) => [name, String(value)] as const);
  expect(details).toMatchObject(Object.fromEntries(shown));
  const ofOutcomes = Object.keys(details).filter((name) => [...outcomes, 'open'].includes(name));
  expect(ofOutcomes).toHaveLength(Object.values(facts.outcomes).filter((rows) => rows > 0).length);
}
