import { WorkflowFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { BatchResult } from '../../src/contract/activities.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import type { RunStatus } from '../../src/contract/run-transitions.ts';
import { createGate, holdFirstBatch, waitWithHeartbeat } from '../helpers/temporal/holding.ts';
import { Stage, untilStatus, readWaitOf, resumeToEnd } from '../helpers/temporal/play-run.ts';
import { examplePlan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';
import { resetBeforeUpdate, resetToBeginning } from '../helpers/temporal/temporal-actions.ts';
import type { RunProgress } from '../../workflows/run-details.ts';

const pauseReason: PauseReason = {
  type: 'service.unauthorized',
  reason: 'the key was refused',
  next: 'set another key',
};

/** Resets a run to the moment before its approval. Temporal does not send the approval again. */
const resetToApproval = (client: Client, runId: string): Promise<WorkflowHandle> =>
  resetBeforeUpdate(client, runId, 'approve', false);

const stage = await Stage.ofFile();

/** Activities of a run that the operator has not approved. */
function unapproved() {
  const activities = new ScriptedActivities();
  activities.isApproved = false;
  return activities;
}

it('a run makes no call before its approval, and refuses an approval with the hash of another plan', async () => {
  const activities = unapproved();
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'awaiting_approval');
    await expect(handle.executeUpdate('approve', { args: ['another'] })).rejects.toThrow();
    expect(activities.batches).toEqual([]);
    await handle.executeUpdate('approve', { args: [examplePlan.plan_hash] });
    await handle.result();
  });
  expect(activities.batches).toHaveLength(5);
});

it.each([
  [
    'a run that is reset to its beginning while a page is open continues after the calls of this page',
    true,
    resetToBeginning,
  ],
  [
    'an approved run that is reset to its beginning continues without a second approval',
    false,
    resetToBeginning,
  ],
  [
    'an approved run that is reset to the moment before its approval continues after a second approval',
    false,
    resetToApproval,
  ],
])('%s', async (_, isApproved, reset) => {
  const activities = new ScriptedActivities();
  activities.isApproved = isApproved;
  const answered = createGate();
  activities.answer = async () => {
    await waitWithHeartbeat(answered);
    return { kind: 'done' };
  };
  const approve = async (handle: WorkflowHandle): Promise<void> => {
    await untilStatus(handle, 'awaiting_approval');
    await handle.executeUpdate('approve', { args: [examplePlan.plan_hash] });
  };
  await stage.play(activities, async (handle) => {
    if (!isApproved) await approve(handle);
    await expect.poll(() => activities.handed.length).toBeGreaterThan(0);
    const again = await reset(stage.temporal.client, handle.workflowId);
    if (reset === resetToApproval) await approve(again);
    await untilStatus(again, 'running');
    answered.open();
    await again.result();
  });
  expect(activities.batches.sort()).toEqual([1, 101, 102, 2, 3]);
  expect(activities.ending).toBe('finished');
});

it('an approval before the plan exists is refused, but an approval in the tables is accepted', async () => {
  const activities = unapproved();
  const reading = createGate();
  const ingest = activities.ingestExport;
  activities.ingestExport = async (request) => {
    await reading.opened;
    return ingest(request);
  };
  await stage.play(activities, async (handle) => {
    await expect(handle.executeUpdate('approve', { args: [examplePlan.plan_hash] })).rejects.toMatchObject({
      cause: { message: 'the run is ingesting: there is nothing to approve' },
    });
    activities.isApproved = true;
    reading.open();
    await handle.result();
  });
  expect(activities.statuses).toEqual(['planning', 'running']);
  expect(activities.batches).toHaveLength(5);
});

it('a run pauses without a call if the service refuses the credential, and a resume checks again', async () => {
  const activities = new ScriptedActivities();
  activities.service = (check) =>
    check === 1 ? { kind: 'refused', pauseReason } : { kind: 'ready', status: 'acting as user user-7' };
  let shown = '';
  await stage.play(
    activities,
    async (handle) => {
      await untilStatus(handle, 'paused');
      await expect.poll(() => activities.statuses.at(-1)).toBe('paused');
      expect(activities.batches).toEqual([]);
      await resumeToEnd(handle);
      shown = JSON.stringify(await handle.query('progress'));
    },
    { checksService: true },
  );
  expect([activities.checks, activities.batches.length]).toEqual([2, 5]);
  expect(shown).toContain('acting as user user-7');
});

it('a cancelled run sends no further call, and ends as cancelled', async () => {
  const activities = new ScriptedActivities();
  activities.answer = async () => {
    await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
    return { kind: 'stopped', pauseReason };
  };
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'running');
    await handle.executeUpdate('cancel', { args: ['no longer wanted'] });
    await handle.result();
  });
  expect(activities.batches).toEqual([]);
  expect(activities.ending).toBe('cancelled');
  expect(activities.comparisons).toBe(1);
});

it("a run that is cancelled in Temporal's UI ends as cancelled in the tables", async () => {
  const activities = new ScriptedActivities();
  let begun = false;
  activities.answer = async () => {
    begun = true;
    await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
    return { kind: 'stopped', pauseReason };
  };
  await stage.play(activities, async (handle) => {
    await expect.poll(() => begun).toBe(true);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
  });
  expect(activities.ending).toBe('cancelled');
});

const budgetReview = { type: 'run.paused', reason: 'budget review', next: 'enrich resume' } as const;

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
  ['pause', 'pause', ['budget review'], 'paused'],
  ['cancel', 'cancel', ['no longer wanted'], 'cancelled'],
])(
  'an update that arrives just before a batch waits for the rate window ends this wait at once: %s',
  async (_title, update, args, status) => {
    const { activities, letGo, begun } = holdFirstBatch(anHour);
    const answer = activities.answer;
    activities.answer = (batch, execution) =>
      execution > 1 && ['paused', 'cancelling'].includes(activities.statuses.at(-1) ?? '')
        ? { kind: 'stopped', pauseReason: budgetReview }
        : answer(batch, execution);
    await stage.play(
      activities,
      async (handle) => {
        await expect.poll(begun).toBe(true);
        const page = stage.temporal.client.workflow.getHandle(`${handle.workflowId}/page-1`);
        const steering = handle.executeUpdate<unknown, [string]>(update, { args });
        const eventsOf = async () => JSON.stringify((await page.fetchHistory()).events);
        await expect.poll(eventsOf).toMatch(/"signalName":"(wake|end)"/);
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

it('a run shows that it waits for the next call, and a resume ends this wait at once', async () => {
  const activities = new ScriptedActivities();
  const reason = 'the rate window of 600/hour is full';
  activities.answer = (_, execution) =>
    execution <= 1 ? { kind: 'wait', milliseconds: 3_600_000, reason } : { kind: 'done' };
  await stage.play(activities, async (handle) => {
    const waitsFor = async () => (await handle.describe()).searchAttributes['EnrichmentWaitsFor']?.[0];
    await expect.poll(waitsFor).toBe('next call');
    expect(await handle.query<RunProgress>('progress')).toMatchObject({
      status: 'running',
      waitsFor: { reason: `the next call: ${reason}` },
    });
    await resumeToEnd(handle);
    expect(await waitsFor()).toBeUndefined();
    expect(await readWaitOf(handle)).toBeUndefined();
  });
});

it('a page hands several batches to one activity, and repeats only batches that had to wait', async () => {
  const activities = new ScriptedActivities();
  activities.answer = (batch, execution) =>
    batch === 2 && execution <= 3
      ? { kind: 'wait', milliseconds: 1, reason: 'the window is full' }
      : { kind: 'done' };
  await stage.play(activities, (handle) => handle.result(), { batchConcurrency: 24 });
  expect(activities.handed).toEqual([[1, 2, 3], [2], [101, 102]]);
});

it('a run opens a page again without a timer if the budget is raised just after the page ended', async () => {
  const activities = new ScriptedActivities();
  activities.answer = (batch) =>
    batch < 100 || activities.meetings > 0
      ? { kind: 'done' }
      : { kind: 'over_budget', budget: 'day:2026-11-21' };
  activities.meeting = () => ({ kind: 'open' });
  await stage.play(activities, async (handle) => {
    await handle.result();
    expect(await timersOf(handle)).toBe(0);
  });
  expect(activities.statuses).toEqual(['planning', 'running']);
});

it('a page that waits up to its history limit ends, and the run opens the page again for the rest', async () => {
  const { activities, letGo, begun } = holdFirstBatch({ kind: 'wait', milliseconds: 1, reason: 'full' });
  await stage.play(activities, async (handle) => {
    await expect.poll(begun).toBe(true);
    const pageId = `${handle.workflowId}/page-1`;
    const page = stage.temporal.client.workflow.getHandle(pageId);
    await reachHistoryLimit(page, 'wake');
    // The page answers this query after it has seen every signal.
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
