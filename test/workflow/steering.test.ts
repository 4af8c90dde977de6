import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { BatchResult, BudgetResolution, RunRequest } from '../../src/contract/activities.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import { gate, waitWithHeartbeat } from '../helpers/temporal/gate.ts';
import { currentDetails, expectFiguresOf } from '../helpers/temporal/current-details.ts';
import { Stage, phaseOf, untilPhase } from '../helpers/temporal/play-run.ts';
import { plan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities, nothingAwaited } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';
import type { RunProgress } from '../../workflows/messages.ts';

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

function untilSignalled(handle: WorkflowHandle, signal: RegExp): Promise<void> {
  return expect
    .poll(async () => JSON.stringify((await handle.fetchHistory()).events))
    .toMatch(new RegExp(`"signalName":"(${signal.source})"`));
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

/**
 * Holds the first batch until it is let go.
 *
 * @param first what it comes to then, before it is done
 */
function holding(first?: BatchResult): {
  activities: ScriptedActivities;
  letGo: () => void;
  begun: () => boolean;
} {
  const activities = new ScriptedActivities();
  const held = gate();
  let begun = false;
  activities.answer = async (batch) => {
    begun = true;
    if (batch !== 1) return { kind: 'done', calls: 1 };
    await waitWithHeartbeat(held);
    const result = first ?? { kind: 'done', calls: 1 };
    first = undefined;
    return result;
  };
  return { activities, letGo: held.open, begun: () => begun };
}

describe('a signal that comes while a batch is about to be told to wait for the rate window', () => {
  const anHour: BatchResult = {
    kind: 'wait',
    milliseconds: 3_600_000,
    reason: 'the window is full',
    calls: 1,
  };

  it.each<[string, string, [string | number, string?], string]>([
    ['a pause ends the wait at once', 'pause', ['budget review'], 'paused'],
    ['a cancellation ends the wait at once', 'cancel', ['no longer wanted'], 'cancelled'],
    ['a skip of the page ends the wait at once', 'skipPage', [1, 'wrong region'], 'finished'],
  ])(
    'a signal before a batch waits for the rate window is not lost: %s',
    async (_title, update, args, phase) => {
      const { activities, letGo, begun } = holding(anHour);
      const answer = activities.answer;
      activities.answer = (batch, execution) =>
        execution > 1 && ['paused', 'cancelling'].includes(activities.statuses.at(-1) ?? '')
          ? { kind: 'stopped', calls: 1, pauseReason }
          : answer(batch, execution);
      await stage.play(
        activities,
        async (handle) => {
          await expect.poll(begun).toBe(true);
          const page = stage.temporal.client.workflow.getHandle(`${handle.workflowId}/page-1`);
          const steering = handle.executeUpdate<unknown, [string | number, string?]>(update, { args });
          await untilSignalled(page, /wake|skip|end/);
          letGo();
          await steering;
          await untilPhase(handle, phase);
          if (phase === 'paused') await handle.executeUpdate('cancel', { args: ['enough'] });
          await handle.result();
        },
        { batchConcurrency: 1 },
      );
      expect(activities.batches).toEqual(update === 'skipPage' ? [101, 102] : []);
    },
  );
});

describe('a page', () => {
  it('a skipped page begins no further call, and completes its outcomes after its calls', async () => {
    const { activities, letGo, begun } = holding();
    await stage.play(
      activities,
      async (handle) => {
        await expect.poll(begun).toBe(true);
        const skipping = handle.executeUpdate('skipPage', { args: [1, 'wrong region'] });
        const page = stage.temporal.client.workflow.getHandle(`${handle.workflowId}/page-1`);
        await untilSignalled(page, /end/);
        expect(activities.skipped).toEqual([]);
        letGo();
        expect(await skipping).toBe(10);
        await handle.result();
      },
      { batchConcurrency: 1 },
    );
    expect(activities.skipped).toEqual([1]);
    expect(activities.batches).toEqual([1, 101, 102]);
  });

  it('a page that is skipped before it begins is never opened', async () => {
    const { activities, letGo, begun } = holding();
    await stage.play(activities, async (handle) => {
      await expect.poll(begun).toBe(true);
      await expect(handle.executeUpdate('skipPage', { args: [3] })).rejects.toThrow();
      await handle.executeUpdate('skipPage', { args: [2] });
      letGo();
      await handle.result();
    });
    expect(activities.skipped).toEqual([2]);
    expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3]);
    expect(activities.ending).toBe('finished');
  });
});

it('a pause before a continue-as-new holds after it', async () => {
  const activities = new ScriptedActivities();
  const held = gate();
  let isPageTwoAsked = false;
  activities.answer = async (batch) => {
    if (batch > 100) isPageTwoAsked = true;
    if (batch === 3) await waitWithHeartbeat(held);
    return { kind: 'done', calls: 1 };
  };
  await stage.play(activities, async (handle) => {
    await expect.poll(() => activities.batches.length).toBe(2);
    await reachHistoryLimit(handle, 'deliveryReceived');
    await handle.executeUpdate('pause', { args: ['not before Monday'] });
    held.open();
    await untilPhase(handle, 'paused');
    expect(isPageTwoAsked).toBe(false);
    expect(activities.statuses).toEqual(['running', 'paused']);
    await handle.executeUpdate('resume');
    await handle.result();
  });
  expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
});

describe('a pause during the last calls of a run', () => {
  it('a run that is paused during its last calls ends only after it is resumed', async () => {
    const { activities, letGo, begun } = holding();
    activities.plan = { ...plan, pages: 1 };
    await stage.play(activities, async (handle) => {
      await expect.poll(begun).toBe(true);
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      letGo();
      await untilPhase(handle, 'paused');
      expect(activities.batches.toSorted()).toEqual([1, 2, 3]);
      expect(activities.ending).toBe('');
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['running', 'paused', 'running']);
    expect(activities.ending).toBe('finished');
  });

  it('a run whose pause a command recorded during its last calls ends only after it is resumed', async () => {
    const { activities, letGo, begun } = holding();
    activities.plan = { ...plan, pages: 1 };
    const recorded = { reason_type: 'run.paused', reason: 'not before Monday', next: 'enrich resume' };
    activities.readRunFacts = async ({ runId }) => ({ ...activities.facts(runId, 'paused'), ...recorded });
    await stage.play(activities, async (handle) => {
      await expect.poll(begun).toBe(true);
      letGo();
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      expect(await currentDetails(handle)).toMatchObject({ 'waits for': 'not before Monday' });
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['running', 'running']);
    expect(activities.ending).toBe('finished');
  });
});

describe('an update of a paused run', () => {
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
      if (isResumed) return { kind: 'done', calls: 1 };
      isResumed = true;
      return { kind: 'stopped', calls: 1, pauseReason: refused };
    };
    return activities;
  }

  it('the update pause keeps the reason of a run that already waits for a person', async () => {
    const activities = pausedByCall();
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      expect(await currentDetails(handle)).toMatchObject({ 'waits for': refused.reason });
      await handle.executeUpdate('resume');
      await handle.result();
    });
  });

  it('an update refuses a reason that names a person: pause, cancel, skipPage and raiseBudget', async () => {
    const updates: readonly [string, [unknown, ...unknown[]]][] = [
      ['pause', ['ada@orbit.example asked for it']],
      ['cancel', ['call +47 400 01 111']],
      ['skipPage', [1, 'linkedin.com/in/ada-berg']],
      ['raiseBudget', ['500', 'ada@orbit.example']],
    ];
    await stage.play(pausedByCall(), async (handle) => {
      await untilPhase(handle, 'paused');
      for (const [update, args] of updates) {
        const refusal: unknown = await handle
          .executeUpdate(update, { args })
          .catch((error: unknown) => error);
        const message = expect.stringContaining('seems to name a person') as string;
        expect({ update, refusal }).toMatchObject({ update, refusal: { cause: { message } } });
      }
      await handle.executeUpdate('resume');
      await handle.result();
    });
  });

  it('the signal pageWaits with anything but a text is ignored', async () => {
    await stage.play(pausedByCall(), async (handle) => {
      await untilPhase(handle, 'paused');
      await handle.signal('pageWaits', {});
      expect(await handle.query<RunProgress>('progress')).toMatchObject({ pageWait: null });
      await handle.executeUpdate('resume');
      await handle.result();
    });
  });
});

describe('a pause between the plan and the first call', () => {
  /** Holds a step before the first call. While contacts are compared, the tables say `running`, and no page is open. */
  function holdingStep(step: 'ingestExport' | 'reconcileContacts') {
    const activities = new ScriptedActivities();
    const { opened, open: letGo } = gate();
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
    ['between its plan and its first call', 'reconcileContacts', ['running', 'paused', 'running']],
    ['while it reads its export', 'ingestExport', ['paused', 'running', 'running']],
  ] as const)('a run that is paused %s makes no call before it is resumed', async (_, step, statuses) => {
    const { activities, letGo, hasBegun } = holdingStep(step);
    await stage.play(activities, async (handle) => {
      await expect.poll(hasBegun).toBe(true);
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      letGo();
      await untilPhase(handle, 'paused');
      expect(activities.batches).toEqual([]);
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(statuses);
    expect(activities.batches).toHaveLength(5);
  });

  it.each([
    ['between its plan and its first call', 'reconcileContacts', ['running', 'paused', 'running']],
    ['while it reads its export', 'ingestExport', ['paused', 'ingesting', 'running']],
  ] as const)('a run that is paused %s can be resumed at once', async (_, step, statuses) => {
    const { activities, letGo, hasBegun } = holdingStep(step);
    await stage.play(activities, async (handle) => {
      await expect.poll(hasBegun).toBe(true);
      await handle.executeUpdate('pause', { args: ['by mistake'] });
      await handle.executeUpdate('resume');
      letGo();
      await handle.result();
    });
    expect(activities.statuses).toEqual(statuses);
    expect(activities.batches).toHaveLength(5);
  });

  it('a run that is paused before its approval waits for the approval only', async () => {
    const { activities, letGo } = holdingStep('ingestExport');
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'ingesting');
        await handle.executeUpdate('pause', { args: ['not before Monday'] });
        letGo();
        await untilPhase(handle, 'awaiting approval');
        await handle.executeUpdate('approve', { args: [plan.planHash] });
        await handle.result();
      },
      { approved: false },
    );
    expect(activities.statuses).toEqual(['paused', 'awaiting_approval', 'running']);
    expect(activities.batches).toHaveLength(5);
  });
});

it('a page that waits until its history limit ends, and is opened again for the remaining people', async () => {
  const { activities, letGo, begun } = holding({ kind: 'wait', milliseconds: 1, reason: 'full', calls: 1 });
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

it('a changed priority of a run applies to later batches, also of the open page', async () => {
  const { activities, letGo, begun } = holding();
  await stage.play(
    activities,
    async (handle) => {
      await expect.poll(begun).toBe(true);
      await expect(handle.executeUpdate('changePriority', { args: ['urgent'] })).rejects.toThrow();
      await handle.executeUpdate('changePriority', { args: ['backfill'] });
      const page = stage.temporal.client.workflow.getHandle(`${handle.workflowId}/page-1`);
      await untilSignalled(page, /priority/);
      letGo();
      await handle.result();
      const { events } = await page.fetchHistory();
      const keys = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled?.activityType?.name === 'enrichBatches' ? [scheduled.priority?.priorityKey] : [],
      );
      expect(keys).toEqual([2, 4, 4]);
    },
    { batchConcurrency: 1 },
  );
  expect(activities.priorities).toEqual(['backfill']);
});

it('a run with an unexpected export pauses before its first call, until a person resumes it', async () => {
  const activities = new ScriptedActivities();
  activities.unmet = { ...pauseReason, type: 'expectation.unmet' };
  await stage.play(activities, async (handle) => {
    await untilPhase(handle, 'paused');
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.get({ name: 'EnrichmentWaitsFor', type: 'KEYWORD' })).toBe(
      'expectation.unmet',
    );
    expect(activities.batches).toEqual([]);
    await handle.executeUpdate('resume');
    await handle.result();
  });
  expect(activities.statuses).toEqual(['paused', 'running']);
  expect(activities.batches).toHaveLength(5);
});

describe('a pilot', () => {
  const pilot = { people: 30, pages: 1 };

  it('a pilot that stops its run asks for no other person before a person resumes the run', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    activities.judgement = { kind: 'pause', pauseReason: { ...pauseReason, type: 'pilot.below' } };
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      expect(activities.batches.toSorted()).toEqual([1, 2, 3]);
      expectFiguresOf(await currentDetails(handle), activities.facts(handle.workflowId, 'paused'));
      const { typedSearchAttributes } = await handle.describe();
      expect(typedSearchAttributes.get({ name: 'EnrichmentWaitsFor', type: 'KEYWORD' })).toBe('pilot.below');
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.judgements).toBe(1);
    expect(activities.batches).toHaveLength(5);
  });

  it('a pilot lets its run continue when it is resumed before its judgement arrives', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    await stage.play(activities, async (handle) => {
      // The tables say that the run is paused as soon as the pilot is judged: whoever reads them may be quick.
      activities.judge = async () => {
        await handle.executeUpdate('resume');
        return { kind: 'pause', pauseReason: { ...pauseReason, type: 'pilot.below' } };
      };
      await handle.result();
    });
    expect(activities.statuses.at(-1)).toBe('running');
    expect(activities.batches).toHaveLength(5);
  });

  it('a pilot can be paused while its late results are awaited', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    activities.sync = () => ({ ...nothingAwaited, awaited: 1, nextSyncAt: '2026-11-21T13:00:00.000Z' });
    activities.answer = (batch) =>
      batch > 100 && activities.statuses.at(-1) === 'paused'
        ? { kind: 'stopped', calls: 1, pauseReason }
        : { kind: 'done', calls: 1 };
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'awaiting late results');
        await handle.executeUpdate('pause', { args: ['not before Monday'] });
        activities.sync = () => nothingAwaited;
        await handle.signal('deliveryReceived');
        await untilPhase(handle, 'paused');
        expect(activities.batches).toHaveLength(3);
        await handle.executeUpdate('resume');
        await handle.result();
      },
      { lateResults: { pollAfterSeconds: 3_600 } },
    );
    expect(activities.batches).toHaveLength(5);
  });

  it('a pilot that meets its rules is followed by all other people', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    await stage.play(activities, (handle) => handle.result());
    expect([activities.judgements, activities.batches.length]).toEqual([1, 5]);
  });
});
