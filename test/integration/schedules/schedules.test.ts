import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { ScheduleDefinition } from '../../../src/cli/schedule/schedule-definition.ts';
import {
  deleteSchedule,
  getSchedule,
  putSchedule,
  triggerSchedule,
} from '../../../src/cli/schedule/schedule-server.ts';
import { createOwnSchedules, ownSchedules } from '../../../src/temporal/own-schedules.ts';
import type { RunInput, ScheduledRunResult } from '../../../src/contract/run-input.ts';
import { callTaskQueues, controlTaskQueue, workflowTypes } from '../../../src/contract/temporal-names.ts';
import { recordHistories } from '../../helpers/temporal/histories.ts';
import { ScriptedActivities } from '../../helpers/temporal/scripted-activities.ts';
import { startTestTemporal } from '../../helpers/temporal/temporal.ts';
import { builtWorkflowBundle } from '../../helpers/temporal/workflow-bundle.ts';
import { workflowIsolate } from '../../../src/temporal/worker-options.ts';
import { unsetOptions } from '../../helpers/warehouse/rows.ts';

let name: string;
const workflowBundle = builtWorkflowBundle('workflow-bundle');

const temporal = await startTestTemporal();

let script: ScriptedActivities;
let working: Promise<void> | undefined;
let endWork = async (): Promise<void> => {};

afterAll(async () => {
  await endWork();
  await temporal.stop();
});

beforeEach(() => {
  script = new ScriptedActivities();
  name = `nightly-${randomUUID().slice(0, 8)}`;
});

function definition(changes: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    name,
    cron: '0 2 * * mon-fri',
    timezone: 'Europe/Berlin',
    overlap: 'buffer-one',
    catchUpSeconds: 7_200,
    pauseOnFailure: true,
    work: {
      ...unsetOptions,
      export: { kind: 'every-new', from: '/exports/*.csv' },
      source: 'hubspot',
      mapping: { columns: { email: 'E-mail' } },
      reveal: ['phone'],
      maxCredits: '500',
      noBudget: false,
      freshness: { enrichedSeconds: 86_400, notFoundSeconds: 3_600 },
    },
    ...changes,
  };
}

function runInput(file: string): RunInput {
  return {
    runId: `run-${randomUUID()}`,
    file,
    maxCredits: '500',
    priority: 'nightly',
    batchConcurrency: 2,
    searchable: true,
    checksService: true,
  };
}

/** The activities of all workers: they follow the script of the test. */
const activities = Object.fromEntries(
  Object.entries(new ScriptedActivities() as unknown as Record<string, unknown>)
    .filter(([, member]) => typeof member === 'function')
    .map(([activity]) => [activity, (...request: unknown[]) => scripted()[activity]!(...request)]),
);

const scripted = () => script as unknown as Record<string, (...request: unknown[]) => unknown>;

async function beginWork(): Promise<void> {
  const { workerConnection: connection, namespace } = temporal;
  const workers = await Promise.all([
    Worker.create({
      ...workflowIsolate,
      connection,
      namespace,
      activities,
      workflowBundle,
      taskQueue: controlTaskQueue,
    }),
    Worker.create({ connection, namespace, activities, taskQueue: callTaskQueues.nightly }),
  ]);
  const ended = workers.map((worker) => worker.run());
  endWork = async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(ended);
  };
}

/** Starts the workers of the file once: loading the workflows takes longer than a schedule. */
const work = (): Promise<void> => (working ??= beginWork());

/** Fires a schedule once, and waits for what it started. */
async function fire(): Promise<string> {
  const { client } = temporal;
  await work();
  await triggerSchedule(client, definition());
  const recent = async () => (await getSchedule(client, name)).description.info.recentActions;
  await expect.poll(async () => (await recent()).length).toBe(1);
  const { workflowId } = (await recent())[0]!.action.workflow;
  await client.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => {});
  await recordHistories(client, { scheduled: workflowId });
  return workflowId;
}

// This test comes first, because no worker may run yet.
it('deleting a schedule cancels a scheduled run that waits for a worker', async () => {
  const { client } = temporal;
  await putSchedule(client, definition());
  await triggerSchedule(client, definition());
  const triggered = async () => (await getSchedule(client, name)).description.info.runningActions;
  const { workflowId } = await expect
    .poll(triggered)
    .toHaveLength(1)
    .then(async () => (await triggered())[0]!.workflow);
  const deleted = await deleteSchedule(client, await getSchedule(client, name));
  expect(deleted).toEqual([]);
  script.scheduled = { runs: [runInput('monday.csv')], refused: [] };
  await work();
  await expect(client.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
    cause: { name: 'CancelledFailure' },
  });
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  expect(events?.filter(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled)).toEqual([]);
});

it('a schedule read from Temporal has the definition and times that it was saved with', async () => {
  expect(await putSchedule(temporal.client, definition())).toBe(true);
  const known = await getSchedule(temporal.client, name);
  expect(known.definition).toEqual(definition());
  const hours = known.description.info.nextActionTimes.map((time) =>
    new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: '2-digit', hourCycle: 'h23' }).format(
      time,
    ),
  );
  expect(new Set(hours)).toEqual(new Set(['02']));
});

it('putSchedule() refuses a cron expression that the SDK cannot read, and names the wrong field', async () => {
  const put = putSchedule(temporal.client, definition({ cron: '61 2 * * *' }));
  await expect(put).rejects.toMatchObject({
    type: 'schedule.invalid',
    message: 'the cron line is wrong: Minute is not in range [0-59]',
  });
});

it('changing a paused schedule leaves it paused', async () => {
  await putSchedule(temporal.client, definition());
  await temporal.client.schedule.getHandle(name).pause('CRM migration');
  const changed = definition({ cron: '@daily', overlap: 'skip' });
  expect(await putSchedule(temporal.client, changed)).toBe(false);
  const known = await getSchedule(temporal.client, name);
  expect(known.definition).toEqual(changed);
  expect(known.description.state).toMatchObject({ paused: true, note: 'CRM migration' });
});

it.each([
  [ownSchedules.sweep, { applied: 0 }],
  [ownSchedules.prune, { answers: 1, deliveries: 2, rows: 3 }],
])('the schedule $scheduleId is created by a worker and runs its activity', async (own, expected) => {
  const { client } = temporal;
  await createOwnSchedules(client, true);
  await createOwnSchedules(client, true);
  await work();
  const schedule = client.schedule.getHandle(own.scheduleId);
  await schedule.trigger();
  const recent = async () => (await schedule.describe()).info.recentActions;
  await expect.poll(recent).not.toEqual([]);
  const { workflowId } = (await recent())[0]!.action.workflow;
  expect(await client.workflow.getHandle(workflowId).result()).toMatchObject(expected);
});

it('a schedule runs its files one after another, with the scheduled time of each run', async () => {
  await putSchedule(temporal.client, definition());
  const runs = [runInput('monday.csv'), runInput('tuesday.csv')];
  script.scheduled = { runs, refused: [] };
  const workflowId = await fire();

  const result = (await temporal.client.workflow.getHandle(workflowId).result()) as ScheduledRunResult;
  expect(result).toMatchObject({
    asOf: script.scheduledFor[0],
    summary: 'monday.csv finished, tuesday.csv finished',
    runs: runs.map(({ runId, file }) => ({ runId, file, status: 'finished' })),
  });
  const { raw } = await temporal.client.workflow.getHandle(workflowId).describe();
  expect(workflowId).toMatch(new RegExp(`^${name}-`));
  expect(raw.workflowExecutionInfo?.type?.name).toBe(workflowTypes.scheduled);
  const { recentActions } = (await getSchedule(temporal.client, name)).description.info;
  // Temporal states the scheduled time to the workflow in whole seconds.
  expect(Date.parse(result.asOf)).toBe(new Date(recentActions[0]!.scheduledAt).setMilliseconds(0));
  const child = await temporal.client.workflow.getHandle(runs[0]!.runId).describe();
  expect(child.typedSearchAttributes.get({ name: 'EnrichmentAsOf', type: 'DATETIME' })?.toISOString()).toBe(
    result.asOf,
  );
  expect(child.typedSearchAttributes.get({ name: 'EnrichmentSchedule', type: 'KEYWORD' })).toBe(name);
  expect(await child.staticDetails()).toContain(`schedule ${name} |`);
  const time = await temporal.client.workflow.getHandle(workflowId).describe();
  expect(await time.staticDetails()).toContain(`| schedule | ${name} |`);
});

it('a schedule with a refused file runs its other files, then fails with the reason and pauses', async () => {
  await putSchedule(temporal.client, definition());
  const [wrong, right] = [runInput('wrong.csv'), runInput('right.csv')];
  script.scheduled = { runs: [wrong, right], refused: [] };
  script.ingestExport = async (request) =>
    request.runId === wrong.runId
      ? {
          kind: 'refused',
          pauseReason: { type: 'export.empty', reason: 'the file is empty', next: 'export again' },
        }
      : { kind: 'ingested', rows: 2_000, malformed: 0, source: 'hubspot' };
  const workflowId = await fire();

  await expect(temporal.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
    cause: { type: 'export.empty', message: expect.stringContaining('wrong.csv') as string },
  });
  expect(script.ending).toBe('finished');
  await expect
    .poll(async () => (await getSchedule(temporal.client, name)).description.state.paused)
    .toBe(true);
});

it('cancelling a schedule between two files starts no further run', async () => {
  await putSchedule(temporal.client, definition());
  const runs = [runInput('monday.csv'), runInput('tuesday.csv')];
  script.scheduled = { runs, refused: [] };
  const { client } = temporal;
  script.ingestExport = async () => {
    const { runningActions } = (await getSchedule(client, name)).description.info;
    for (const { workflow } of runningActions) await client.workflow.getHandle(workflow.workflowId).cancel();
    await expect.poll(() => script.statuses.at(-1)).toBe('cancelling');
    return { kind: 'ingested', rows: 2_000, malformed: 0, source: 'hubspot' };
  };
  const workflowId = await fire();
  await expect(client.workflow.getHandle(workflowId).result()).rejects.toThrow();
  await expect(client.workflow.getHandle(runs[1]!.runId).describe()).rejects.toThrow();
});

it('a schedule that cannot find its export is paused with the reason', async () => {
  await putSchedule(temporal.client, definition());
  script.beginScheduledRuns = async () => {
    throw ApplicationFailure.nonRetryable('there is no such file', 'export.missing');
  };
  const workflowId = await fire();
  await expect(temporal.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
    cause: { type: 'export.missing' },
  });
  await expect
    .poll(async () => (await getSchedule(temporal.client, name)).description.state.note)
    .toContain('there is no such file');
});
