import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
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

  it.each(['resume', 'pause'])('the update %s is refused, and approves no plan', async (update) => {
    const statuses = await beforeWrite(async (handle) => {
      const refused = handle.executeUpdate(update, { args: [''] }).then(
        () => '',
        (error: unknown) => (error as { cause?: Error }).cause?.message,
      );
      expect(await Promise.race([refused, sleep(5_000, 'it is accepted')])).toMatch(
        'the run is awaiting approval',
      );
    });
    expect(statuses).toEqual(['paused', 'planning', 'awaiting_approval', 'running']);
  });
});
