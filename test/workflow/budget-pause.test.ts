import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { BudgetResolution } from '../../src/contract/activities.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import { currentDetails, expectFiguresOf } from '../helpers/temporal/current-details.ts';
import { Stage, phaseOf, untilPhase } from '../helpers/temporal/play-run.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';

const stage = await Stage.ofFile();

const pauseReason: PauseReason = {
  type: 'budget.empty',
  reason: 'day:2026-11-21 has less than 1 credits left',
  next: 'enrich budget set day:2026-11-21 N',
  budgets: ['day:2026-11-21'],
};
const untilRaised: BudgetResolution = { kind: 'wait', pauseReason, milliseconds: null };

/** Activities whose budget holds the first batch. */
function shortOfCredits(meetings: readonly BudgetResolution[]): ScriptedActivities {
  const activities = new ScriptedActivities();
  activities.answer = (batch) =>
    batch === 1 || activities.meetings >= meetings.length
      ? { kind: 'done', calls: 1 }
      : { kind: 'over_budget', calls: 1, budget: 'day:2026-11-21' };
  activities.meeting = (number) => meetings[Math.min(number, meetings.length) - 1]!;
  return activities;
}

describe('a run whose budget is empty', () => {
  it('a run with an empty budget is paused, and continues by itself when the budget is raised', async () => {
    const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      const waiting = await currentDetails(handle);
      expectFiguresOf(waiting, activities.facts(handle.workflowId, 'paused'));
      expect(waiting).toMatchObject({
        state: 'paused',
        'waits for': pauseReason.reason,
        'pages done': '0 of 2',
      });
      await handle.executeUpdate('raiseBudget', { args: ['500'] });
      await handle.result();
      const finished = await currentDetails(handle);
      expectFiguresOf(finished, activities.facts(handle.workflowId, 'finished'));
      expect(finished).toMatchObject({
        state: 'finished',
        'budget of the run': '500',
        'pages done': '2 of 2',
      });
      expect(finished['waits for']).toBeUndefined();
      const { typedSearchAttributes } = await handle.describe();
      const values = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
      expect(Object.fromEntries(values)).toMatchObject({
        EnrichmentStatus: 'finished',
        EnrichmentSource: 'hubspot',
      });
      expect(values.map(([name]) => name)).not.toContain('EnrichmentWaitsFor');
    });
    expect(activities.statuses).toEqual(['running', 'paused', 'running']);
    expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
    expect(activities.ending).toBe('finished');
  });

  it('a run with an empty budget continues by itself when the day changes, by a timer that says so', async () => {
    const activities = shortOfCredits([{ ...untilRaised, milliseconds: 500 }, { kind: 'open' }]);
    await stage.play(activities, async (handle) => {
      await handle.result();
      const { events } = await handle.fetchHistory();
      const timers = (events ?? []).filter((event) => event.timerStartedEventAttributes);
      expect(timers).toHaveLength(1);
      expect(Buffer.from(timers[0]!.userMetadata!.summary!.data!).toString()).toContain(pauseReason.reason);
    });
    expect(activities.ending).toBe('finished');
  });

  it('a run with an empty budget stays paused if the change was not enough', async () => {
    const activities = shortOfCredits([untilRaised, untilRaised, { kind: 'open' }]);
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.signal('budgetChanged');
      await expect.poll(() => activities.meetings).toBe(2);
      expect(await phaseOf(handle)).toBe('paused');
      await handle.signal('budgetChanged');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['running', 'paused', 'running']);
  });

  it('a run with an empty budget does not continue by itself after a person has paused it', async () => {
    const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      await handle.signal('budgetChanged');
      await expect.poll(() => activities.meetings).toBe(2);
      expect(activities.statuses.at(-1)).toBe('paused');
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['running', 'paused', 'paused', 'running']);
  });

  it('a run with an empty budget continues when an update raises its own budget to a valid limit', async () => {
    const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await expect(handle.executeUpdate('raiseBudget', { args: ['plenty'] })).rejects.toThrow();
      await handle.executeUpdate('raiseBudget', { args: ['500', 'trade fair'] });
      await handle.result();
    });
    expect(activities.limits).toEqual(['500']);
  });

  it('a run with an empty budget continues when every page that is left was skipped', async () => {
    const activities = shortOfCredits([untilRaised]);
    activities.answer = () => ({ kind: 'over_budget', calls: 1, budget: 'day:2026-11-21' });
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('skipPage', { args: [2, 'wrong region'] });
      expect(await phaseOf(handle)).toBe('paused');
      await handle.executeUpdate('skipPage', { args: [1, 'wrong region'] });
      await handle.result();
    });
    expect(activities.ending).toBe('finished');
    expect(activities.statuses.at(-1)).toBe('running');
  });

  it('a page that was skipped before a continue-as-new needs no budget after it', async () => {
    const activities = shortOfCredits([untilRaised]);
    activities.answer = () => ({ kind: 'over_budget', calls: 1, budget: 'day:2026-11-21' });
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('skipPage', { args: [2, 'wrong region'] });
      await reachHistoryLimit(handle, 'deliveryReceived');
      // The server suggests it with the task after these signals.
      await phaseOf(handle);
      await handle.signal('deliveryReceived');
      await expect.poll(() => activities.meetings).toBe(2);
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('skipPage', { args: [1, 'wrong region'] });
      await handle.result();
    });
    expect(activities.ending).toBe('finished');
  });

  /** Activities whose second page finds no credits the first times, although its run finds some. */
  function missesCredits(times: number): ScriptedActivities {
    const activities = new ScriptedActivities();
    activities.answer = (batch) =>
      batch < 100 || activities.meetings >= times
        ? { kind: 'done', calls: 1 }
        : { kind: 'over_budget', calls: 0, budget: 'day:2026-11-21' };
    activities.meeting = () => ({ kind: 'open' });
    return activities;
  }

  async function timersOf(handle: WorkflowHandle): Promise<number> {
    const { events } = await handle.fetchHistory();
    return (events ?? []).filter((event) => event.timerStartedEventAttributes).length;
  }

  it('a run opens a page again at once when a budget is raised just after the end of the page', async () => {
    const activities = missesCredits(1);
    await stage.play(activities, async (handle) => {
      await handle.result();
      expect(await timersOf(handle)).toBe(0);
    });
    expect(activities.statuses).toEqual(['running']);
  });

  it('a run waits when its page finds no credits twice, as at a worker with a lower limit', async () => {
    const activities = missesCredits(2);
    await stage.play(activities, async (handle) => {
      await expect.poll(() => timersOf(handle)).toBe(1);
      await handle.signal('budgetChanged');
      await handle.result();
      expect(await timersOf(handle)).toBe(1);
    });
    expect(activities.statuses).toEqual(['running']);
  });

  it('a run with an empty budget can be cancelled while it waits', async () => {
    const activities = shortOfCredits([untilRaised, untilRaised]);
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('cancel', { args: ['enough'] });
      await handle.result();
    });
    expect(activities.ending).toBe('cancelled');
  });
});
