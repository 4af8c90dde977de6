import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { LateResultsStatus } from '../../src/contract/late-results-status.ts';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { gate, waitWithHeartbeat } from '../helpers/temporal/gate.ts';
import { Stage, phaseOf, untilPhase } from '../helpers/temporal/play-run.ts';
import { plan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities, nothingAwaited } from '../helpers/temporal/scripted-activities.ts';
import { reachHistoryLimit } from '../helpers/temporal/temporal.ts';
import type { RunProgress } from '../../workflows/messages.ts';

const pauseReason: PauseReason = {
  type: 'service.unauthorized',
  reason: 'the key was refused',
  next: 'set another key',
};

const stage = await Stage.ofFile();

it('a workflow under test may run for a day, because a watchdog would end the process', () => {
  expect(stage.isolateMilliseconds).toBe(86_400_000);
});

describe('a run', () => {
  it('a run asks for every batch of every page, one page after another', async () => {
    const activities = new ScriptedActivities();
    await stage.play(activities, (handle) => handle.result());
    expect(activities.batches.slice(0, 3).sort()).toEqual([1, 2, 3]);
    expect(activities.batches.slice(3).sort()).toEqual([101, 102]);
    expect(activities.ending).toBe('finished');
  });

  it('a run spends nothing before its approval, and refuses the hash of another plan', async () => {
    const activities = new ScriptedActivities();
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'awaiting approval');
        await expect(handle.executeUpdate('approve', { args: ['another'] })).rejects.toThrow();
        expect(activities.batches).toEqual([]);
        await handle.executeUpdate('approve', { args: [plan.planHash] });
        await handle.result();
      },
      { approved: false },
    );
    expect(activities.batches).toHaveLength(5);
  });

  it('an approval that comes as soon as the warehouse says that the run awaits it is accepted', async () => {
    const activities = new ScriptedActivities();
    const setStatus = activities.setRunStatus;
    const told = gate();
    let approved: Promise<unknown> | undefined;
    await stage.play(
      activities,
      async (handle) => {
        activities.setRunStatus = async (request) => {
          const facts = await setStatus(request);
          if (request.status === 'awaiting_approval') {
            approved = handle.executeUpdate('approve', { args: [plan.planHash] });
            told.open();
            // The activity ends after the update has reached the workflow.
            await untilPhase(handle, 'planning');
          }
          return facts;
        };
        await told.opened;
        await approved;
        await handle.result();
      },
      { approved: false },
    );
    expect(activities.batches).toHaveLength(5);
  });

  it('a run pauses when the service refuses the key, and asks for the rest when it is resumed', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (_, execution) =>
      execution === 2 ? { kind: 'stopped', calls: 1, pauseReason } : { kind: 'done', calls: 1 };
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'paused');
      expect(activities.batches.length).toBeLessThan(5);
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.batches.sort()).toEqual([1, 101, 102, 2, 3]);
  });

  it('a run whose check of the service is refused pauses unpaid, and checks again when it is resumed', async () => {
    const activities = new ScriptedActivities();
    activities.service = (check) =>
      check === 1 ? { kind: 'refused', pauseReason } : { kind: 'ready', status: 'acting as user user-7' };
    let shown = '';
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'paused');
        await expect.poll(() => activities.statuses.at(-1)).toBe('paused');
        expect(activities.batches).toEqual([]);
        await handle.executeUpdate('resume');
        await handle.result();
        shown = JSON.stringify(await handle.query('progress'));
      },
      { checksService: true },
    );
    expect([activities.checks, activities.batches.length]).toEqual([2, 5]);
    expect(shown).toContain('acting as user user-7');
  });

  it('a run whose check of the service is refused continues when it is resumed while its pause is written', async () => {
    const activities = new ScriptedActivities();
    activities.service = (check) =>
      check === 1 ? { kind: 'refused', pauseReason } : { kind: 'ready', status: 'acting as user user-7' };
    const { setRunStatus } = activities;
    await stage.play(
      activities,
      async (handle) => {
        // The tables say that the run is paused before the workflow knows: a person may be quick.
        activities.setRunStatus = async (request) => {
          if (request.status !== 'paused') return setRunStatus(request);
          handle.executeUpdate('resume').catch(() => {});
          await expect
            .poll(async () => JSON.stringify((await handle.fetchHistory()).events))
            .toContain('UpdateAccepted');
          return setRunStatus(request);
        };
        await handle.result();
      },
      { checksService: true },
    );
    expect([activities.checks, activities.batches.length]).toEqual([2, 5]);
  });

  it('a run is paused and resumed by a person', async () => {
    const activities = new ScriptedActivities();
    const held = gate();
    activities.answer = async () => {
      await held.opened;
      return activities.statuses.at(-1) === 'paused'
        ? { kind: 'stopped', calls: 1, pauseReason }
        : { kind: 'done', calls: 1 };
    };
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'enriching');
      await handle.executeUpdate('pause', { args: ['budget review'] });
      held.open();
      await untilPhase(handle, 'paused');
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.statuses).toEqual(['running', 'paused', 'running']);
    expect(activities.batches).toHaveLength(5);
  });

  it('a run sends no further call when it is cancelled, and completes its outcomes', async () => {
    const activities = new ScriptedActivities();
    activities.answer = async () => {
      await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
      return { kind: 'stopped', calls: 1, pauseReason };
    };
    await stage.play(activities, async (handle) => {
      await untilPhase(handle, 'enriching');
      await handle.executeUpdate('cancel', { args: ['no longer wanted'] });
      await handle.result();
    });
    expect(activities.batches).toEqual([]);
    expect(activities.ending).toBe('cancelled');
    expect(activities.comparisons).toBe(1);
  });

  it('a run that is cancelled after a call compares the contacts with the people whom the call found', async () => {
    const activities = new ScriptedActivities();
    activities.answer = async (batch) => {
      if (batch === 1) return { kind: 'done', calls: 1 };
      await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
      return { kind: 'stopped', calls: 0, pauseReason };
    };
    await stage.play(activities, async (handle) => {
      await expect.poll(() => activities.batches).toEqual([1]);
      await handle.executeUpdate('cancel', { args: ['no longer wanted'] });
      await handle.result();
    });
    expect(activities.ending).toBe('cancelled');
    expect(activities.comparisons).toBe(2);
  });

  it('a run completes its outcomes when it is cancelled in Temporal', async () => {
    const activities = new ScriptedActivities();
    let begun = false;
    activities.answer = async () => {
      begun = true;
      await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
      return { kind: 'stopped', calls: 1, pauseReason };
    };
    await stage.play(activities, async (handle) => {
      await expect.poll(() => begun).toBe(true);
      await handle.cancel();
      await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
    });
    expect(activities.ending).toBe('cancelled');
  });

  it('a run leaves the remaining people over budget when the budget is empty', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (batch) =>
      batch === 1 ? { kind: 'done', calls: 1 } : { kind: 'over_budget', calls: 1, budget: 'run:x' };
    await stage.play(activities, (handle) => handle.result());
    expect(activities.ending).toBe('over_budget');
    expect(activities.batches).toEqual([1]);
  });

  it('a run waits for a full rate window by one timer that names the reason, and then continues', async () => {
    const activities = new ScriptedActivities();
    const reason = 'the rate window of 600/hour is full';
    activities.answer = (_, execution) =>
      execution <= 2 ? { kind: 'wait', calls: 1, milliseconds: 1_000, reason } : { kind: 'done', calls: 1 };
    let pageTimers = 0;
    await stage.play(activities, async (handle) => {
      const { run_id: runId } = (await handle.result()) as RunFacts;
      const page = await stage.temporal.client.workflow.getHandle(`${runId}/page-1`).fetchHistory();
      pageTimers = (page.events ?? []).filter((event) => event.timerStartedEventAttributes).length;
    });
    expect(activities.batches).toHaveLength(5);
    expect(pageTimers).toBe(1);
  });

  it('a run that waits for the next call asks at once when it is resumed', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (_, execution) =>
      execution <= 1
        ? { kind: 'wait', calls: 0, milliseconds: 3_600_000, reason: 'full' }
        : { kind: 'done', calls: 1 };
    await stage.play(activities, async (handle) => {
      const pageWait = async () => (await handle.query<RunProgress>('progress')).pageWait;
      await expect.poll(pageWait).toBe('full');
      await handle.executeUpdate('resume');
      await expect.poll(pageWait).toBeNull();
    });
  });

  it('a run says that it waits for the next call while its page waits for a minute or more', async () => {
    const activities = new ScriptedActivities();
    const reason = 'the rate window of 600/hour is full';
    activities.answer = (_, execution) =>
      execution <= 1
        ? { kind: 'wait', calls: 0, milliseconds: 3_600_000, reason }
        : { kind: 'done', calls: 1 };
    await stage.play(activities, async (handle) => {
      const waitsFor = async (): Promise<unknown> => {
        const { searchAttributes } = await handle.describe();
        return searchAttributes['EnrichmentWaitsFor']?.[0];
      };
      await expect.poll(waitsFor).toBe('next call');
      expect(await handle.query<RunProgress>('progress')).toMatchObject({
        phase: 'enriching',
        pageWait: reason,
      });
      await handle.executeUpdate('pause', { args: ['by hand'] });
      await handle.executeUpdate('resume');
      await handle.result();
      expect(await waitsFor()).toBeNull();
      expect(await handle.query<RunProgress>('progress')).toMatchObject({ pageWait: null });
    });
  });

  it('a page hands several batches to one activity, and asks again only for those that had to wait', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (batch, execution) =>
      batch === 2 && execution <= 3
        ? { kind: 'wait', calls: 0, milliseconds: 1, reason: 'the window is full' }
        : { kind: 'done', calls: 1 };
    await stage.play(activities, (handle) => handle.result(), { batchConcurrency: 24 });
    expect(activities.handed).toEqual([[1, 2, 3], [2], [101, 102]]);
  });

  it('a run fails with the reason and the next step when the file is refused', async () => {
    const activities = new ScriptedActivities();
    const refused = { type: 'export.unclosed-quote', reason: 'a quote is never closed', next: 'close it' };
    activities.ingested = { kind: 'refused', pauseReason: refused };
    await stage.play(activities, async (handle) => {
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'export.unclosed-quote' } });
    });
    expect(activities.statuses).toEqual(['failed']);
  });
});

describe('late results', () => {
  const lateResults = { pollAfterSeconds: 3_600 };
  const awaited = (number: number): LateResultsStatus => ({
    ...nothingAwaited,
    awaited: number,
    until: '2026-11-22T03:00:00.000Z',
    nextSyncAt: '2026-11-21T13:00:00.000Z',
  });

  it('late results are synced when a delivery is signalled, and the run waits for all of them', async () => {
    const activities = new ScriptedActivities();
    activities.sync = () => awaited(2);
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'awaiting late results');
        await expect.poll(() => activities.syncs).toBeGreaterThan(0);
        expect(activities.ending).toBe('');
        activities.sync = () => ({ ...nothingAwaited, arrived: 2 });
        await handle.signal('deliveryReceived');
        await handle.result();
      },
      { lateResults },
    );
    expect(activities.ending).toBe('finished');
  });

  it('late results need one sync for simultaneous signals, and none for late signals', async () => {
    const activities = new ScriptedActivities();
    const held = gate();
    activities.sync = async (number) => {
      if (number === 1) await held.opened;
      return number < 3 ? awaited(2) : nothingAwaited;
    };
    await stage.play(
      activities,
      async (handle) => {
        await expect.poll(() => activities.syncs).toBe(1);
        await Promise.all(Array.from({ length: 50 }, () => handle.signal('deliveryReceived')));
        held.open();
        await expect.poll(() => activities.syncs).toBe(2);
        await handle.signal('deliveryReceived');
        await handle.result();
        await expect(handle.signal('deliveryReceived')).rejects.toThrow();
      },
      { lateResults },
    );
    expect(activities.syncs).toBe(3);
  });

  it('late results are synced without a signal when the next poll is due', async () => {
    const activities = new ScriptedActivities();
    activities.sync = (number) =>
      number < 3 ? { ...awaited(2), nextSyncAt: '2026-11-21T12:00:00.010Z' } : nothingAwaited;
    await stage.play(activities, (handle) => handle.result(), { lateResults });
    expect(activities.syncs).toBe(3);
  });

  it('a late result that pauses the run after its last call keeps it from finishing until it is resumed', async () => {
    const activities = new ScriptedActivities();
    activities.sync = () => nothingAwaited;
    let isResumed = false;
    const facts = activities.facts.bind(activities);
    activities.facts = (runId, status) => {
      const paused = { reason_type: 'service.overbilled', reason: 'billed more', next: 'compare' };
      const isLast = activities.ending !== '' && !isResumed;
      return isLast ? { ...facts(runId, 'paused'), ...paused } : facts(runId, status);
    };
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'paused');
        isResumed = true;
        await handle.executeUpdate('resume');
        expect(await handle.result()).toMatchObject({ status: 'finished' });
      },
      { lateResults },
    );
  });

  it('late results that release credits let a run ask for people who were over budget', async () => {
    const activities = new ScriptedActivities();
    activities.answer = (batch, execution) =>
      batch === 3 && execution < 5
        ? { kind: 'over_budget', calls: 1, budget: 'run:x' }
        : { kind: 'done', calls: 1 };
    activities.sync = (number) => ({ ...nothingAwaited, arrived: number });
    await stage.play(activities, (handle) => handle.result(), { lateResults, batchConcurrency: 1 });
    expect(activities.batches).toContain(3);
    expect(activities.ending).toBe('finished');
  });

  it.each([
    [
      'its budget is raised',
      (handle: WorkflowHandle) => handle.executeUpdate('raiseBudget', { args: ['500'] }),
    ],
    ['a budget is changed', (handle: WorkflowHandle) => handle.signal('budgetChanged')],
    ['it is resumed', (handle: WorkflowHandle) => handle.executeUpdate('resume')],
  ])(
    'a run that was over budget and awaits late results asks for the other people when %s',
    async (_, act) => {
      const activities = new ScriptedActivities();
      let hasCredits = false;
      activities.answer = (batch) =>
        batch === 3 && !hasCredits
          ? { kind: 'over_budget', calls: 1, budget: 'run:x' }
          : { kind: 'done', calls: 1 };
      activities.sync = () => (hasCredits ? nothingAwaited : { ...nothingAwaited, awaited: 1 });
      await stage.play(
        activities,
        async (handle) => {
          await untilPhase(handle, 'awaiting late results');
          hasCredits = true;
          await act(handle);
          await handle.result();
        },
        { lateResults, batchConcurrency: 1 },
      );
      expect(activities.batches).toContain(3);
      expect(activities.ending).toBe('finished');
    },
  );

  it(
    'a run asks for the other people when its budget is raised while it continues as new',
    { timeout: 30_000 },
    async () => {
      const activities = new ScriptedActivities();
      const [begun, held] = [gate(), gate()];
      let hasCredits = false;
      activities.answer = (batch) =>
        batch === 3 && !hasCredits
          ? { kind: 'over_budget', calls: 1, budget: 'run:x' }
          : { kind: 'done', calls: 1 };
      const askedAll = (): boolean => activities.batches.includes(102);
      activities.sync = () => (askedAll() ? nothingAwaited : { ...nothingAwaited, awaited: 1 });
      activities.changeRunBudget = async () => {
        begun.open();
        await held.opened;
        hasCredits = true;
      };
      await stage.play(
        activities,
        async (handle) => {
          await untilPhase(handle, 'awaiting late results');
          const raised = handle.executeUpdate('raiseBudget', { args: ['500'] });
          await begun.opened;
          const { syncs } = activities;
          await reachHistoryLimit(handle, 'deliveryReceived');
          await expect.poll(() => activities.syncs).toBeGreaterThan(syncs);
          // The workflow continues as new when the update has ended.
          held.open();
          await raised;
          await handle.result();
        },
        { lateResults, batchConcurrency: 1 },
      );
      expect(askedAll()).toBe(true);
      expect(activities.ending).toBe('finished');
    },
  );

  it(
    'late results take effect once when signals come on both sides of a continue-as-new',
    { timeout: 120_000 },
    async () => {
      const activities = new ScriptedActivities();
      const held = gate();
      activities.answer = async (batch) => {
        if (batch === 3) await waitWithHeartbeat(held);
        return { kind: 'done', calls: 1 };
      };
      activities.sync = () => nothingAwaited;
      let executions = 0;
      await stage.play(
        activities,
        async (handle) => {
          await expect.poll(() => activities.batches.length).toBe(2);
          await reachHistoryLimit(handle, 'deliveryReceived');
          for (let sent = 0; sent < 400; sent += 100)
            await Promise.all(Array.from({ length: 100 }, () => handle.signal('deliveryReceived')));
          held.open();
          await handle.signal('deliveryReceived');
          await handle.result();
          const runs = stage.temporal.client.workflow.list({ query: `WorkflowId = "${handle.workflowId}"` });
          for await (const _ of runs) executions += 1;
        },
        { lateResults },
      );
      expect(executions).toBe(2);
      expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
      expect(activities.syncs).toBeLessThan(100);
      expect(activities.ending).toBe('finished');
    },
  );

  it.each([
    ['while nothing else is left to do', false],
    ['while the run is paused', true],
  ])(
    'late results are awaited by a workflow that continues as new before its history limit, %s',
    { timeout: 120_000 },
    async (_title, isPaused) => {
      const activities = new ScriptedActivities();
      activities.sync = () => ({ ...awaited(1_000), nextSyncAt: '2026-11-21T12:00:00.900Z' });
      activities.answer = (batch) =>
        isPaused && batch > 100 && activities.statuses.at(-1) === 'running' && activities.checks === 0
          ? { kind: 'stopped', calls: 1, pauseReason }
          : { kind: 'done', calls: 1 };
      await stage.play(
        activities,
        async (handle) => {
          const phase = isPaused ? 'paused' : 'awaiting late results';
          await untilPhase(handle, phase);
          const first = (await handle.describe()).runId;
          await reachHistoryLimit(handle, 'deliveryReceived');
          await expect.poll(async () => (await handle.describe()).runId).not.toBe(first);
          expect(await phaseOf(handle)).toBe(phase);
          expect(activities.batches.length).toBe(isPaused ? 3 : 5);
          activities.checks = 1;
          if (isPaused) await handle.executeUpdate('resume');
          activities.sync = () => ({ ...nothingAwaited, arrived: 1_000 });
          await handle.signal('deliveryReceived');
          await handle.result();
        },
        { lateResults },
      );
      expect(activities.batches.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 101, 102]);
      expect(activities.ending).toBe('finished');
    },
  );

  it(
    'late results are awaited beside an open page, which ends at the history limit of the run',
    { timeout: 120_000 },
    async () => {
      const activities = new ScriptedActivities();
      let hasWaited = false;
      activities.answer = (batch) => {
        if (batch !== 1 || hasWaited) return { kind: 'done', calls: 1 };
        hasWaited = true;
        return { kind: 'wait', milliseconds: 86_400_000, reason: 'the window is full', calls: 1 };
      };
      activities.sync = () => nothingAwaited;
      await stage.play(
        activities,
        async (handle) => {
          await expect.poll(() => hasWaited).toBe(true);
          await reachHistoryLimit(handle, 'deliveryReceived');
          await handle.result();
        },
        { lateResults, batchConcurrency: 1 },
      );
      expect(activities.batches).toEqual([1, 2, 3, 101, 102]);
    },
  );

  it('late results do not stop a run from being cancelled', async () => {
    const activities = new ScriptedActivities();
    activities.sync = () => awaited(2);
    await stage.play(
      activities,
      async (handle) => {
        await untilPhase(handle, 'awaiting late results');
        await handle.executeUpdate('cancel', { args: ['enough'] });
        await handle.result();
      },
      { lateResults },
    );
    expect(activities.ending).toBe('cancelled');
  });
});
