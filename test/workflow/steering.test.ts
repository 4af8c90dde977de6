import { WorkflowUpdateStage } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { BudgetResolution, RunRequest } from '../../src/contract/activities.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import type { RunStatus } from '../../src/contract/run-transitions.ts';
import { createGate, waitWithHeartbeat, holdFirstBatch } from '../helpers/temporal/holding.ts';
import {
  currentDetails,
  expectFiguresOf,
  Stage,
  untilStatus,
  untilWaitsFor,
  readWaitOf,
  resumeToEnd,
} from '../helpers/temporal/play-run.ts';
import { examplePlan } from '../helpers/outputs/run-facts.ts';
import { nothingAwaited, ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';

const stage = await Stage.ofFile();

const pauseReason: PauseReason = { type: 'expectation.unmet', reason: 'too few rows', next: 'enrich resume' };

it('a pause before a continue-as-new still holds after the continue-as-new', async () => {
  const activities = new ScriptedActivities();
  const held = createGate();
  let isPageTwoAsked = false;
  activities.answer = async (batch) => {
    if (batch > 100) isPageTwoAsked = true;
    if (batch === 3) await waitWithHeartbeat(held);
    return { kind: 'done' };
  };
  await stage.play(activities, async (handle) => {
    await expect.poll(() => activities.batches.length).toBe(2);
    await reachHistoryLimit(handle, 'deliveryReceived');
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    held.open();
    await untilStatus(handle, 'paused');
    expect(isPageTwoAsked).toBe(false);
    expect(activities.statuses).toEqual(['planning', 'running', 'paused']);
    await resumeToEnd(handle);
  });
  expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
});

it('a run that is paused during its last calls completes these calls, and ends only after a resume', async () => {
  const { activities, letGo, begun } = holdFirstBatch();
  activities.plan = { ...examplePlan, pages: 1 };
  await stage.play(activities, async (handle) => {
    await expect.poll(begun).toBe(true);
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    letGo();
    await untilStatus(handle, 'paused');
    expect(activities.batches.toSorted()).toEqual([1, 2, 3]);
    expect(activities.ending).toBe('');
    await resumeToEnd(handle);
  });
  expect(activities.statuses).toEqual(['planning', 'running', 'paused', 'running']);
  expect(activities.ending).toBe('finished');
});

const refused: PauseReason = {
  type: 'service.credential-refused',
  reason: 'the service refused the credential',
  next: 'correct ENRICHMENT_API_KEY',
};

/** A run that its first call has paused. */
function pausedByCall(): ScriptedActivities {
  const activities = new ScriptedActivities();
  let isResumed = false;
  activities.answer = () => {
    if (isResumed) return { kind: 'done' };
    isResumed = true;
    return { kind: 'stopped', pauseReason: refused };
  };
  return activities;
}

it('the update pause keeps the reason of a run that already waits for the operator', async () => {
  const activities = pausedByCall();
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    expect(await currentDetails(handle)).toMatchObject({ 'why it waits': refused.reason });
    await resumeToEnd(handle);
  });
});

it('the updates pause and cancel refuse a reason with an e-mail or phone number', async () => {
  const message = expect.stringContaining('seems to name a person') as string;
  await stage.play(pausedByCall(), async (handle) => {
    await untilStatus(handle, 'paused');
    const pause = handle.executeUpdate('pause', { args: ['ada@orbit.example asked for it'] });
    await expect(pause).rejects.toMatchObject({ cause: { message } });
    const cancel = handle.executeUpdate('cancel', { args: ['call +47 400 01 111'] });
    await expect(cancel).rejects.toMatchObject({ cause: { message } });
    await resumeToEnd(handle);
  });
});

/**
 * Holds a step of a run before the first call. While contacts are reconciled, the tables have the status `running`, and
 * no page is open.
 */
function holdingStep(step: 'ingestExport' | 'reconcileContacts') {
  const activities = new ScriptedActivities();
  const { opened, open: letGo } = createGate();
  let begun = false;
  const carryOut = activities[step] as (request: RunRequest) => Promise<never>;
  activities[step] = async (request: RunRequest) => {
    begun = true;
    await opened;
    return carryOut(request);
  };
  return { activities, letGo, hasBegun: () => begun };
}

it.each([
  ['between its plan and its first call', 'reconcileContacts', ['planning', 'running', 'paused', 'running']],
  ['while it reads its export', 'ingestExport', ['paused', 'planning', 'running', 'running']],
] as const)('a run that is paused %s makes no call before it is resumed', async (_, step, statuses) => {
  const { activities, letGo, hasBegun } = holdingStep(step);
  await stage.play(activities, async (handle) => {
    await expect.poll(hasBegun).toBe(true);
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    letGo();
    await expect.poll(() => activities.statuses).toContain('running');
    await untilStatus(handle, 'paused');
    expect(activities.batches).toEqual([]);
    await resumeToEnd(handle);
  });
  expect(activities.statuses).toEqual(statuses);
  expect(activities.batches).toHaveLength(5);
});

const pilot = { people: 30, pages: 1 };

it('a pilot that pauses its run makes no call for other people until the operator resumes the run', async () => {
  const activities = new ScriptedActivities();
  activities.plan = { ...examplePlan, pilot };
  activities.judgement = { kind: 'pause', pauseReason: { ...pauseReason, type: 'pilot.below' } };
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    expect(activities.batches.toSorted()).toEqual([1, 2, 3]);
    expectFiguresOf(await currentDetails(handle), activities.facts(handle.workflowId));
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.get({ name: 'EnrichmentWaitsFor', type: 'KEYWORD' })).toBe('pilot.below');
    await resumeToEnd(handle);
  });
  expect(activities.judgements).toBe(1);
  expect(activities.batches).toHaveLength(5);
});

it('a pilot that ends while a command has paused the run is judged after the resume', async () => {
  const activities = new ScriptedActivities();
  activities.plan = { ...examplePlan, pilot };
  activities.judge = async () => {
    if (activities.judgements > 1) return activities.judgement;
    activities.write('paused', { type: 'run.paused', reason: 'not before Monday', next: 'enrich resume' });
    return { kind: 'postponed' };
  };
  await stage.play(activities, async (handle) => {
    await untilWaitsFor(handle, 'run.paused');
    expect(activities.batches).toHaveLength(3);
    await resumeToEnd(handle);
  });
  expect(activities.judgements).toBe(2);
  expect(activities.batches).toHaveLength(5);
});

it('a pause and a resume do not approve the plan of a run that waits for its approval', async () => {
  const activities = new ScriptedActivities();
  activities.isApproved = false;
  const written = createGate();
  const { setRunStatus } = activities;
  activities.setRunStatus = async (request) => {
    const facts = setRunStatus(request);
    if (request.status === 'running') await waitWithHeartbeat(written);
    return facts;
  };
  await stage.play(activities, async (handle) => {
    await expect.poll(() => activities.status).toBe('awaiting_approval');
    const accepted = { waitForStage: WorkflowUpdateStage.ACCEPTED } as const;
    const pause = await handle.startUpdate('pause', { args: ['not before Monday'], ...accepted });
    const resume = await handle.startUpdate('resume', accepted);
    written.open();
    await Promise.all([pause.result(), resume.result()]);
    await untilStatus(handle, 'awaiting_approval');
    expect(activities.handed).toEqual([]);
    await handle.executeUpdate('approve', { args: [examplePlan.plan_hash] });
    await handle.result();
  });
  const { statuses } = activities;
  expect(statuses).toEqual(['planning', 'awaiting_approval', 'paused', 'awaiting_approval', 'running']);
});

/** Activities of a run that a command has cancelled or paused in the tables. The update did not reach the workflow. */
function recorded(status: RunStatus, reason: { readonly type: string; readonly reason: string }) {
  const activities = new ScriptedActivities();
  activities.write(status, { ...reason, next: 'enrich …' });
  return activities;
}

const wrongFile = { type: 'run.cancelled', reason: 'wrong file', next: 'enrich …' };

it.each([true, false])(
  'a run that is cancelled only in the tables ends without a call (approved: %s)',
  async (isApproved) => {
    const activities = recorded('cancelling', wrongFile);
    activities.isApproved = isApproved;
    await stage.play(activities, (handle) => handle.result());
    expect(activities.ending).toBe('cancelled');
    expect(activities.handed).toEqual([]);
  },
);

it('a run that is cancelled only in the tables during a page ends after this page', async () => {
  const activities = new ScriptedActivities();
  activities.answer = () => {
    activities.write('cancelling', wrongFile);
    return { kind: 'stopped', pauseReason: wrongFile };
  };
  await stage.play(activities, (handle) => handle.result());
  expect(activities.ending).toBe('cancelled');
  expect(activities.handed).not.toEqual([]);
  expect(activities.batches).toEqual([]);
});

it.each([
  { type: 'run.paused', reason: 'budget review' },
  { type: 'service.overbilled', reason: 'a call cost more than its worst case' },
])('a run that is paused only in the tables makes no call before it is resumed: $type', async (pause) => {
  const activities = recorded('paused', pause);
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    expect(activities.handed).toEqual([]);
    await resumeToEnd(handle);
  });
  expect(activities.batches).toHaveLength(5);
  expect(activities.ending).toBe('finished');
});

const emptyBudget: PauseReason = {
  type: 'budget.empty',
  reason: 'day:2026-11-21 has less than 1 credits left',
  next: 'enrich budget set day:2026-11-21 N',
  budgets: ['day:2026-11-21'],
};
const untilRaised: BudgetResolution = { kind: 'wait', pauseReason: emptyBudget, milliseconds: null };

/** Activities with a budget that suffices for the first batch only. */
function shortOfCredits(meetings: readonly BudgetResolution[]): ScriptedActivities {
  const activities = new ScriptedActivities();
  activities.answer = (batch) =>
    batch === 1 || activities.meetings >= meetings.length
      ? { kind: 'done' }
      : { kind: 'over_budget', budget: 'day:2026-11-21' };
  activities.meeting = (number) => meetings[Math.min(number, meetings.length) - 1]!;
  return activities;
}

it('a run with an empty budget is paused, and continues by itself after the budget is raised', async () => {
  const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    const waiting = await currentDetails(handle);
    expectFiguresOf(waiting, activities.facts(handle.workflowId));
    expect(waiting).toMatchObject({
      status: 'paused',
      'why it waits': emptyBudget.reason,
      'pages done': '0 of 2',
    });
    await handle.signal('budgetChanged');
    await handle.result();
    const finished = await currentDetails(handle);
    expectFiguresOf(finished, activities.facts(handle.workflowId));
    expect(finished).toMatchObject({
      status: 'finished',
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

it('a run with an empty day budget continues on the next day by a timer that names the budget', async () => {
  const activities = shortOfCredits([{ ...untilRaised, milliseconds: 500 }, { kind: 'open' }]);
  await stage.play(activities, async (handle) => {
    await handle.result();
    const { events } = await handle.fetchHistory();
    const timers = (events ?? []).filter((event) => event.timerStartedEventAttributes);
    expect(timers).toHaveLength(1);
    expect(Buffer.from(timers[0]!.userMetadata!.summary!.data!).toString()).toContain(emptyBudget.reason);
  });
  expect(activities.ending).toBe('finished');
});

it('a run with an empty budget that the operator also paused does not continue when the budget is raised', async () => {
  const activities = shortOfCredits([untilRaised, { kind: 'open' }]);
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    await handle.signal('budgetChanged');
    expect(await readWaitOf(handle)).toBe('run.paused');
    await resumeToEnd(handle);
  });
  expect(activities.statuses).toEqual(['planning', 'running', 'paused', 'paused', 'running']);
});

it('a run with an empty budget ends and leaves the remaining people over budget', async () => {
  const activities = new ScriptedActivities();
  activities.answer = (batch) => (batch === 1 ? { kind: 'done' } : { kind: 'over_budget', budget: 'run:x' });
  await stage.play(activities, (handle) => handle.result());
  expect(activities.ending).toBe('over_budget');
  expect(activities.batches).toEqual([1]);
});

const lateResults = { pollAfterSeconds: 3_600 };

it('a run makes calls for people over budget after late results have released credits', async () => {
  const activities = new ScriptedActivities();
  activities.answer = (batch, execution) =>
    batch === 3 && execution < 5 ? { kind: 'over_budget', budget: 'run:x' } : { kind: 'done' };
  activities.sync = (number) => ({ ...nothingAwaited, arrived: number });
  await stage.play(activities, (handle) => handle.result(), { lateResults, batchConcurrency: 1 });
  expect(activities.batches).toContain(3);
  expect(activities.ending).toBe('finished');
});
