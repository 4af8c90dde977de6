import type { WorkflowHandle } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { BatchResult } from '../../src/contract/activities.ts';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import type { RunStatus } from '../../src/contract/run-transitions.ts';
import { holding, untilSignalled } from '../helpers/temporal/holding.ts';
import { Stage, untilStatus, waitOf } from '../helpers/temporal/play-run.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';
import type { RunProgress } from '../../workflows/run-details.ts';

const stage = await Stage.ofFile();

const pauseReason = { type: 'run.paused', reason: 'budget review', next: 'enrich resume' } as const;

/** Number of timers in the history of a workflow. */
async function timersOf(handle: WorkflowHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.timerStartedEventAttributes).length;
}

const anHour: BatchResult = {
  kind: 'wait',
  milliseconds: 3_600_000,
  reason: 'the window is full',
};

it.each<[string, string, [string], RunStatus]>([
  ['a pause ends the wait at once', 'pause', ['budget review'], 'paused'],
  ['a cancellation ends the wait at once', 'cancel', ['no longer wanted'], 'cancelled'],
])(
  'a signal before a batch waits for the rate window is not lost: %s',
  async (_title, update, args, status) => {
    const { activities, letGo, begun } = holding(anHour);
    const answer = activities.answer;
    activities.answer = (batch, execution) =>
      execution > 1 && ['paused', 'cancelling'].includes(activities.statuses.at(-1) ?? '')
        ? { kind: 'stopped', pauseReason }
        : answer(batch, execution);
    await stage.play(
      activities,
      async (handle) => {
        await expect.poll(begun).toBe(true);
        const page = stage.temporal.client.workflow.getHandle(`${handle.workflowId}/page-1`);
        const steering = handle.executeUpdate<unknown, [string]>(update, { args });
        await untilSignalled(page, /wake|end/);
        letGo();
        await steering;
        await untilStatus(handle, status);
        if (status === 'paused') await handle.executeUpdate('cancel', { args: ['enough'] });
        await handle.result();
      },
      { batchConcurrency: 1 },
    );
    expect(activities.batches).toEqual([]);
  },
);

it('a run waits for a full rate window by one timer that names the reason, and then continues', async () => {
  const activities = new ScriptedActivities();
  const reason = 'the rate window of 600/hour is full';
  activities.answer = (_, execution) =>
    execution <= 2 ? { kind: 'wait', milliseconds: 1_000, reason } : { kind: 'done' };
  let pageTimers = 0;
  await stage.play(activities, async (handle) => {
    const { run_id: runId } = (await handle.result()) as RunFacts;
    pageTimers = await timersOf(stage.temporal.client.workflow.getHandle(`${runId}/page-1`));
  });
  expect(activities.batches).toHaveLength(5);
  expect(pageTimers).toBe(1);
});

it('a run says that it waits for the next call, and asks at once when it is resumed', async () => {
  const activities = new ScriptedActivities();
  const reason = 'the rate window of 600/hour is full';
  activities.answer = (_, execution) =>
    execution <= 1 ? { kind: 'wait', milliseconds: 3_600_000, reason } : { kind: 'done' };
  await stage.play(activities, async (handle) => {
    const waitsFor = async (): Promise<unknown> => {
      const { searchAttributes } = await handle.describe();
      return searchAttributes['EnrichmentWaitsFor']?.[0];
    };
    await expect.poll(waitsFor).toBe('next call');
    expect(await handle.query<RunProgress>('progress')).toMatchObject({
      status: 'running',
      waitsFor: { reason: `the next call: ${reason}` },
    });
    await handle.executeUpdate('resume');
    await handle.result();
    expect(await waitsFor()).toBeUndefined();
    expect(await waitOf(handle)).toBeUndefined();
  });
});

it('a page hands several batches to one activity, and asks again only for those that had to wait', async () => {
  const activities = new ScriptedActivities();
  activities.answer = (batch, execution) =>
    batch === 2 && execution <= 3
      ? { kind: 'wait', milliseconds: 1, reason: 'the window is full' }
      : { kind: 'done' };
  await stage.play(activities, (handle) => handle.result(), { batchConcurrency: 24 });
  expect(activities.handed).toEqual([[1, 2, 3], [2], [101, 102]]);
});

/** Activities whose second page finds no credits the first times, although its run finds some. */
function missesCredits(times: number): ScriptedActivities {
  const activities = new ScriptedActivities();
  activities.answer = (batch) =>
    batch < 100 || activities.meetings >= times
      ? { kind: 'done' }
      : { kind: 'over_budget', budget: 'day:2026-11-21' };
  activities.meeting = () => ({ kind: 'open' });
  return activities;
}

it('a run opens a page again at once when a budget is raised just after the end of the page', async () => {
  const activities = missesCredits(1);
  await stage.play(activities, async (handle) => {
    await handle.result();
    expect(await timersOf(handle)).toBe(0);
  });
  expect(activities.statuses).toEqual(['planning', 'running']);
});

it('a page that waits until its history limit ends, and is opened again for the remaining people', async () => {
  const { activities, letGo, begun } = holding({ kind: 'wait', milliseconds: 1, reason: 'full' });
  await stage.play(activities, async (handle) => {
    await expect.poll(begun).toBe(true);
    const pageId = `${handle.workflowId}/page-1`;
    const page = stage.temporal.client.workflow.getHandle(pageId);
    await reachHistoryLimit(page, 'wake');
    // Answered once the page has seen every signal.
    await page.query('__stack_trace');
    letGo();
    await handle.result();
    const results = [];
    for await (const { runId } of stage.temporal.client.workflow.list({
      query: `WorkflowId = "${pageId}"`,
    }))
      results.push(await stage.temporal.client.workflow.getHandle(pageId, runId).result());
    expect(results).toMatchObject([{ kind: 'done' }, { kind: 'unfinished' }]);
  });
  expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
});
