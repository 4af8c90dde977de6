import { describe, expect, it } from 'vitest';
import type { BudgetResolution } from '../../src/contract/activities.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import {
  currentDetails,
  expectFiguresOf,
  Stage,
  untilStatus,
  untilWaitsFor,
  waitOf,
} from '../helpers/temporal/play-run.ts';
import { ScriptedActivities, nothingAwaited } from '../helpers/temporal/scripted-activities.ts';

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
      ? { kind: 'done' }
      : { kind: 'over_budget', budget: 'day:2026-11-21' };
  activities.meeting = (number) => meetings[Math.min(number, meetings.length) - 1]!;
  return activities;
}

it('a run with an empty budget is paused, and continues by itself when the budget is raised', async () => {
  const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    const waiting = await currentDetails(handle);
    expectFiguresOf(waiting, activities.facts(handle.workflowId));
    expect(waiting).toMatchObject({
      status: 'paused',
      'why it waits': pauseReason.reason,
      'pages done': '0 of 2',
    });
    await handle.executeUpdate('raiseBudget', { args: ['500'] });
    await handle.result();
    const finished = await currentDetails(handle);
    expectFiguresOf(finished, activities.facts(handle.workflowId));
    expect(finished).toMatchObject({
      status: 'finished',
      'budget of the run': '500',
      'pages done': '2 of 2',
    });
    expect(finished['why it waits']).toBeUndefined();
    const { typedSearchAttributes } = await handle.describe();
    const values = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    expect(Object.fromEntries(values)).toMatchObject({
      EnrichmentStatus: 'finished',
      EnrichmentSource: 'hubspot',
    });
    expect(values.map(([name]) => name)).not.toContain('EnrichmentWaitsFor');
  });
  expect(activities.statuses).toEqual(['planning', 'running', 'paused', 'running']);
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

it('a run with an empty budget does not continue by itself after a person has paused it', async () => {
  const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    await handle.signal('budgetChanged');
    expect(await waitOf(handle)).toBe('run.paused');
    await handle.executeUpdate('resume');
    await handle.result();
  });
  expect(activities.statuses).toEqual(['planning', 'running', 'paused', 'paused', 'running']);
});

it('a run leaves the remaining people over budget when the budget is empty', async () => {
  const activities = new ScriptedActivities();
  activities.answer = (batch) => (batch === 1 ? { kind: 'done' } : { kind: 'over_budget', budget: 'run:x' });
  await stage.play(activities, (handle) => handle.result());
  expect(activities.ending).toBe('over_budget');
  expect(activities.batches).toEqual([1]);
});

describe('a run whose late results release credits', () => {
  const lateResults = { pollAfterSeconds: 3_600 };

  it('late results that release credits let a run ask for people who were over budget', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (batch, execution) =>
      batch === 3 && execution < 5 ? { kind: 'over_budget', budget: 'run:x' } : { kind: 'done' };
    activities.sync = (number) => ({ ...nothingAwaited, arrived: number });
    await stage.play(activities, (handle) => handle.result(), { lateResults, batchConcurrency: 1 });
    expect(activities.batches).toContain(3);
    expect(activities.ending).toBe('finished');
  });

  it('a run over budget that awaits late results asks for the others when a budget is changed', async () => {
    const activities = new ScriptedActivities();
    let hasCredits = false;
    activities.answer = (batch) =>
      batch === 3 && !hasCredits ? { kind: 'over_budget', budget: 'run:x' } : { kind: 'done' };
    activities.sync = () =>
      activities.batches.includes(3) ? nothingAwaited : { ...nothingAwaited, awaited: 1 };
    await stage.play(
      activities,
      async (handle) => {
        await untilWaitsFor(handle, 'late results');
        hasCredits = true;
        await handle.signal('budgetChanged');
        await handle.result();
      },
      { lateResults, batchConcurrency: 1 },
    );
    expect(activities.batches).toContain(3);
    expect(activities.ending).toBe('finished');
  });
});
