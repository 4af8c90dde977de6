import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowUpdateStage, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import { gate, waitWithHeartbeat } from '../helpers/temporal/gate.ts';
import { Stage, untilStatus } from '../helpers/temporal/play-run.ts';
import { plan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';

const stage = await Stage.ofFile();

describe('a run that was paused before its plan, until its tables say that it awaits approval', () => {
  /** The run is planned, and the write of `awaiting_approval` takes until `act` has ended. */
  async function beforeWrite(act: (handle: WorkflowHandle) => Promise<unknown>): Promise<string[]> {
    const activities = new ScriptedActivities();
    const [ingested, written] = [gate(), gate()];
    const { ingestExport, setRunStatus } = activities;
    activities.ingestExport = async (request) => {
      await waitWithHeartbeat(ingested);
      return ingestExport(request);
    };
    activities.setRunStatus = async (request) => {
      const facts = setRunStatus(request);
      if (request.status === 'awaiting_approval') await waitWithHeartbeat(written);
      return facts;
    };
    await stage.play(
      activities,
      async (handle) => {
        await untilStatus(handle, 'ingesting');
        await handle.executeUpdate('pause', { args: ['not before Monday'] });
        ingested.open();
        await expect.poll(() => activities.statuses.at(-1)).toBe('awaiting_approval');
        await act(handle).finally(() => written.open());
        await untilStatus(handle, 'awaiting_approval');
        await handle.executeUpdate('approve', { args: [plan.planHash] });
        await handle.result();
      },
      { approved: false },
    );
    return activities.statuses;
  }

  it('a pause is refused', async () => {
    const statuses = await beforeWrite(async (handle) => {
      const refused = handle.executeUpdate('pause', { args: [''] }).then(
        () => '',
        (error: unknown) => (error as { cause?: Error }).cause?.message,
      );
      expect(await Promise.race([refused, sleep(5_000, 'it is accepted')])).toMatch(
        'the run is awaiting approval',
      );
    });
    expect(statuses).toEqual(['paused', 'planning', 'awaiting_approval', 'running']);
  });

  it('a resume approves no plan', async () => {
    const statuses = await beforeWrite((handle) =>
      handle.startUpdate('resume', { waitForStage: WorkflowUpdateStage.ACCEPTED }),
    );
    expect(statuses).toEqual(['paused', 'planning', 'awaiting_approval', 'awaiting_approval', 'running']);
  });
});

it('a run that a person resumes while its budgets are read is not paused again', async () => {
  const overbilled: PauseReason = {
    type: 'service.overbilled',
    reason: 'a delivery was billed more than its call can cost',
    next: 'enrich resume',
  };
  const activities = new ScriptedActivities();
  const read = gate();
  activities.answer = (batch) =>
    batch === 3 && activities.meetings === 0
      ? { kind: 'over_budget', calls: 1, budget: 'run:x' }
      : { kind: 'done', calls: 1 };
  // A late result pauses the run before the activity reads its status.
  activities.meeting = async () => {
    activities.write('paused', overbilled);
    await waitWithHeartbeat(read);
    return { kind: 'wait', milliseconds: null, pauseReason: overbilled };
  };
  await stage.play(activities, async (handle) => {
    await expect.poll(() => activities.meetings).toBe(1);
    await handle.executeUpdate('resume').finally(() => read.open());
    await Promise.race([handle.result(), sleep(10_000)]);
    expect(activities.statuses).toEqual(['planning', 'running', 'running']);
  });
  expect(activities.ending).toBe('finished');
});

it('a run that gives every row its outcome refuses a resume, which would hide why it is paused then', async () => {
  const activities = new ScriptedActivities();
  const [begun, finished] = [gate(), gate()];
  const { finishRun } = activities;
  activities.finishRun = async (request) => {
    begun.open();
    await waitWithHeartbeat(finished);
    return finishRun(request);
  };
  await stage.play(activities, async (handle) => {
    await begun.opened;
    const refused = handle.executeUpdate('resume').then(
      () => '',
      (error: unknown) => (error as { cause?: Error }).cause?.message,
    );
    expect(await Promise.race([refused, sleep(5_000, 'it is accepted')])).toMatch('it is not paused');
    finished.open();
    await handle.result();
  });
});
