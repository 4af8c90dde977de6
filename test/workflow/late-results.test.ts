import { expect, it } from 'vitest';
import type { LateResultsStatus } from '../../src/contract/run-facts.ts';
import { createGate, waitWithHeartbeat } from '../helpers/temporal/holding.ts';
import { Stage, untilStatus, untilWaitsFor, readWaitOf } from '../helpers/temporal/play-run.ts';
import { ScriptedActivities, nothingAwaited } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';

const pauseReason = { type: 'service.unauthorized', reason: 'refused', next: 'set another key' } as const;

const stage = await Stage.ofFile();

const play = (activities: ScriptedActivities, act: Parameters<typeof stage.play>[1]) =>
  stage.play(activities, act, { lateResults: { pollAfterSeconds: 3_600 } });
const awaited = (number: number): LateResultsStatus => ({
  ...nothingAwaited,
  awaited: number,
  until: '2026-11-22T03:00:00.000Z',
  nextSyncAt: '2026-11-21T13:00:00.000Z',
});

it('a signal about a delivery syncs late results, and the run ends only after all have arrived', async () => {
  const activities = new ScriptedActivities();
  activities.sync = () => awaited(2);
  await play(activities, async (handle) => {
    await untilWaitsFor(handle, 'late results');
    await expect.poll(() => activities.syncs).toBeGreaterThan(0);
    expect(activities.ending).toBe('');
    activities.sync = () => ({ ...nothingAwaited, arrived: 2 });
    await handle.signal('deliveryReceived');
    await handle.result();
  });
  expect(activities.ending).toBe('finished');
});

it('50 simultaneous signals about deliveries cause one sync, and an ended run refuses a signal', async () => {
  const activities = new ScriptedActivities();
  const held = createGate();
  activities.sync = async (number) => {
    if (number === 1) await held.opened;
    return number < 3 ? awaited(2) : nothingAwaited;
  };
  await play(activities, async (handle) => {
    await expect.poll(() => activities.syncs).toBe(1);
    await Promise.all(Array.from({ length: 50 }, () => handle.signal('deliveryReceived')));
    held.open();
    await expect.poll(() => activities.syncs).toBe(2);
    await handle.signal('deliveryReceived');
    await handle.result();
    await expect(handle.signal('deliveryReceived')).rejects.toThrow();
  });
  expect(activities.syncs).toBe(3);
});

it('a run syncs its late results without a signal when the next poll is due', async () => {
  const activities = new ScriptedActivities();
  activities.sync = (number) =>
    number < 3 ? { ...awaited(2), nextSyncAt: '2026-11-21T12:00:00.010Z' } : nothingAwaited;
  await play(activities, (handle) => handle.result());
  expect(activities.syncs).toBe(3);
});

it('a late result that pauses a run after its last call holds the run until it is resumed', async () => {
  const activities = new ScriptedActivities();
  activities.sync = () => nothingAwaited;
  const { finishRun } = activities;
  activities.finishRun = async (request) => {
    if (activities.ending !== '') return finishRun(request);
    activities.ending = request.ending;
    activities.write('paused', { type: 'service.overbilled', reason: 'billed more', next: 'compare' });
    return activities.facts(request.runId);
  };
  await play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    await handle.executeUpdate('resume');
    expect(await handle.result()).toMatchObject({ status: 'finished' });
  });
});

it(
  'a run repeats no batch and ends if delivery signals come before and after a continue-as-new',
  { timeout: 120_000 },
  async () => {
    const activities = new ScriptedActivities();
    const held = createGate();
    activities.answer = async (batch) => {
      if (batch === 3) await waitWithHeartbeat(held);
      return { kind: 'done' };
    };
    activities.sync = () => nothingAwaited;
    let executions = 0;
    await play(activities, async (handle) => {
      await expect.poll(() => activities.batches.length).toBe(2);
      await reachHistoryLimit(handle, 'deliveryReceived');
      for (let sent = 0; sent < 400; sent += 100)
        await Promise.all(Array.from({ length: 100 }, () => handle.signal('deliveryReceived')));
      held.open();
      await handle.signal('deliveryReceived');
      await handle.result();
      const runs = stage.temporal.client.workflow.list({ query: `WorkflowId = "${handle.workflowId}"` });
      for await (const _ of runs) executions += 1;
    });
    expect(executions).toBe(2);
    expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
    expect(activities.syncs).toBeLessThan(100);
    expect(activities.ending).toBe('finished');
  },
);

it.each([
  ['after all its calls', false],
  ['while it is paused', true],
])(
  'a run that awaits late results continues as new before its history limit and still waits, %s',
  { timeout: 120_000 },
  async (_title, isPaused) => {
    const activities = new ScriptedActivities();
    activities.sync = () => ({ ...awaited(1_000), nextSyncAt: '2026-11-21T12:00:00.900Z' });
    activities.answer = (batch) =>
      isPaused && batch > 100 && activities.statuses.at(-1) === 'running' && activities.checks === 0
        ? { kind: 'stopped', pauseReason }
        : { kind: 'done' };
    await play(activities, async (handle) => {
      const wait = isPaused ? pauseReason.type : 'late results';
      await untilWaitsFor(handle, wait);
      const first = (await handle.describe()).runId;
      await reachHistoryLimit(handle, 'deliveryReceived');
      await expect.poll(async () => (await handle.describe()).runId).not.toBe(first);
      expect(await readWaitOf(handle)).toBe(wait);
      expect(activities.batches.length).toBe(isPaused ? 3 : 5);
      activities.checks = 1;
      if (isPaused) await handle.executeUpdate('resume');
      activities.sync = () => ({ ...nothingAwaited, arrived: 1_000 });
      await handle.signal('deliveryReceived');
      await handle.result();
    });
    expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
    expect(activities.ending).toBe('finished');
  },
);
