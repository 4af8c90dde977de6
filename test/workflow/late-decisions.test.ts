import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowUpdateStage } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import { gate, waitWithHeartbeat } from '../helpers/temporal/gate.ts';
import { Stage, untilStatus } from '../helpers/temporal/play-run.ts';
import { plan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';

const stage = await Stage.ofFile();

it('a pause and a resume while the tables already wait for the approval approve no plan', async () => {
  const activities = new ScriptedActivities();
  activities.isApproved = false;
  const written = gate();
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
    await handle.executeUpdate('approve', { args: [plan.planHash] });
    await handle.result();
  });
  const { statuses } = activities;
  expect(statuses).toEqual(['planning', 'awaiting_approval', 'paused', 'awaiting_approval', 'running']);
});

it('a run that a person resumes while its budgets are read is not paused again', async () => {
  const overbilled: PauseReason = {
    type: 'service.overbilled',
    reason: 'billed more than reserved',
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
