import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../../src/contract/activities.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import { gate, waitWithHeartbeat } from '../helpers/temporal/gate.ts';
import { currentDetails, expectFiguresOf } from '../helpers/temporal/current-details.ts';
import { holding } from '../helpers/temporal/holding.ts';
import { Stage, untilStatus, untilWaitsFor, waitOf } from '../helpers/temporal/play-run.ts';
import { plan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities, nothingAwaited } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';

const stage = await Stage.ofFile();

const pauseReason: PauseReason = { type: 'expectation.unmet', reason: 'too few rows', next: 'enrich resume' };

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
    await untilStatus(handle, 'paused');
    expect(isPageTwoAsked).toBe(false);
    expect(activities.statuses).toEqual(['planning', 'running', 'paused']);
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
      await untilStatus(handle, 'paused');
      expect(activities.batches.toSorted()).toEqual([1, 2, 3]);
      expect(activities.ending).toBe('');
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['planning', 'running', 'paused', 'running']);
    expect(activities.ending).toBe('finished');
  });

  it('a run whose pause a command recorded during its last calls ends only after it is resumed', async () => {
    const { activities, letGo, begun } = holding();
    activities.plan = { ...plan, pages: 1 };
    await stage.play(activities, async (handle) => {
      await expect.poll(begun).toBe(true);
      activities.write('paused', { type: 'run.paused', reason: 'not before Monday', next: 'enrich resume' });
      letGo();
      await untilStatus(handle, 'paused');
      await handle.executeUpdate('pause', { args: ['again'] });
      expect(await currentDetails(handle)).toMatchObject({
        'why it waits': 'not before Monday',
      });
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['planning', 'running', 'paused', 'running']);
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
      await untilStatus(handle, 'paused');
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      expect(await currentDetails(handle)).toMatchObject({ 'why it waits': refused.reason });
      await handle.executeUpdate('resume');
      await handle.result();
    });
  });

  it('an update refuses a reason that names a person: pause and cancel', async () => {
    const updates: readonly [string, [string]][] = [
      ['pause', ['ada@orbit.example asked for it']],
      ['cancel', ['call +47 400 01 111']],
    ];
    await stage.play(pausedByCall(), async (handle) => {
      await untilStatus(handle, 'paused');
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
      await untilStatus(handle, 'paused');
      await handle.signal('pageWaits', {});
      expect(await waitOf(handle)).toBe(refused.type);
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
    [
      'between its plan and its first call',
      'reconcileContacts',
      ['planning', 'running', 'paused', 'running'],
    ],
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
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(statuses);
    expect(activities.batches).toHaveLength(5);
  });

  it.each([
    [
      'between its plan and its first call',
      'reconcileContacts',
      ['planning', 'running', 'paused', 'running'],
    ],
    ['while it reads its export', 'ingestExport', ['paused', 'ingesting', 'planning', 'running']],
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

  it('a run that is paused before its approval waits for a resume, and then for its approval', async () => {
    const { activities, letGo } = holdingStep('ingestExport');
    activities.isApproved = false;
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'ingesting');
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      letGo();
      await expect.poll(() => activities.statuses).toContain('awaiting_approval');
      await untilStatus(handle, 'paused');
      await handle.executeUpdate('resume');
      await untilStatus(handle, 'awaiting_approval');
      await handle.executeUpdate('approve', { args: [plan.planHash] });
      await handle.result();
    });
    const awaiting = 'awaiting_approval';
    expect(activities.statuses).toEqual(['paused', 'planning', awaiting, awaiting, 'running']);
    expect(activities.batches).toHaveLength(5);
  });

  it('a resume of a run that a command has paused before its approval leaves the run to its approval', async () => {
    const activities = new ScriptedActivities();
    activities.isApproved = false;
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'awaiting_approval');
      activities.write('paused', { type: 'run.paused', reason: 'not before Monday', next: 'enrich resume' });
      await handle.executeUpdate('resume');
      expect(activities.status).toBe('awaiting_approval');
      expect(activities.batches).toEqual([]);
      await handle.executeUpdate('approve', { args: [plan.planHash] });
      await handle.result();
    });
    expect(activities.batches).toHaveLength(5);
  });

  it('a run whose tables have lost its approval makes no call before it is approved again', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (_, execution) => {
      if (execution > 1) return { kind: 'done', calls: 1 };
      activities.isApproved = false;
      activities.write('awaiting_approval');
      return { kind: 'stopped', calls: 0, pauseReason };
    };
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'awaiting_approval');
      await expect.poll(() => activities.statuses).toContain('awaiting_approval');
      const asked = activities.handed.length;
      await handle.executeUpdate('approve', { args: [plan.planHash] });
      await handle.result();
      expect(activities.handed.length).toBeGreaterThan(asked);
    });
    expect(activities.statuses).toEqual(['planning', 'running', 'awaiting_approval', 'running']);
    expect(activities.batches).toHaveLength(5);
  });
});

it('a run with an unexpected export pauses before its first call, until a person resumes it', async () => {
  const activities = new ScriptedActivities();
  activities.unmet = pauseReason;
  await stage.play(activities, async (handle) => {
    await untilStatus(handle, 'paused');
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.get({ name: 'EnrichmentWaitsFor', type: 'KEYWORD' })).toBe(
      'expectation.unmet',
    );
    expect(activities.batches).toEqual([]);
    await handle.executeUpdate('resume');
    await handle.result();
  });
  expect(activities.statuses).toEqual(['planning', 'running', 'running']);
  expect(activities.batches).toHaveLength(5);
});

describe('a pilot', () => {
  const pilot = { people: 30, pages: 1 };

  it('a pilot that stops its run asks for no other person before a person resumes the run', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    activities.judgement = { kind: 'pause', pauseReason: { ...pauseReason, type: 'pilot.below' } };
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'paused');
      expect(activities.batches.toSorted()).toEqual([1, 2, 3]);
      expectFiguresOf(await currentDetails(handle), activities.facts(handle.workflowId));
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
        await untilWaitsFor(handle, 'late results');
        await handle.executeUpdate('pause', { args: ['not before Monday'] });
        activities.sync = () => nothingAwaited;
        await handle.signal('deliveryReceived');
        await untilStatus(handle, 'paused');
        expect(activities.batches).toHaveLength(3);
        await handle.executeUpdate('resume');
        await handle.result();
      },
      { lateResults: { pollAfterSeconds: 3_600 } },
    );
    expect(activities.batches).toHaveLength(5);
  });

  it('a pilot that a person has paused is judged after the resume, and can pause the run again', async () => {
    const { activities, letGo, begun } = holding();
    activities.plan = { ...plan, pilot };
    activities.judgement = { kind: 'pause', pauseReason: { ...pauseReason, type: 'pilot.below' } };
    await stage.play(activities, async (handle) => {
      await expect.poll(begun).toBe(true);
      await handle.executeUpdate('pause', { args: ['not before Monday'] });
      letGo();
      await expect.poll(() => activities.batches.length).toBe(3);
      await handle.executeUpdate('resume');
      await untilWaitsFor(handle, 'pilot.below');
      expect(activities.batches).toHaveLength(3);
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.judgements).toBe(1);
    expect(activities.batches).toHaveLength(5);
  });

  it('a pilot whose judgement is postponed, because a command has paused the run, is judged again', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    activities.judge = async () => {
      if (activities.judgements > 1) return activities.judgement;
      activities.write('paused', { type: 'run.paused', reason: 'not before Monday', next: 'enrich resume' });
      return { kind: 'postponed' };
    };
    await stage.play(activities, async (handle) => {
      await untilWaitsFor(handle, 'run.paused');
      expect(activities.batches).toHaveLength(3);
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.judgements).toBe(2);
    expect(activities.batches).toHaveLength(5);
  });

  it('a pilot that meets its rules is followed by all other people', async () => {
    const activities = new ScriptedActivities();
    activities.plan = { ...plan, pilot };
    await stage.play(activities, (handle) => handle.result());
    expect([activities.judgements, activities.batches.length]).toEqual([1, 5]);
  });
});
