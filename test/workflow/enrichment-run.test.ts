import { WorkflowFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { PauseReason } from '../../src/contract/pause-reasons.ts';
import { gate, waitWithHeartbeat } from '../helpers/temporal/holding.ts';
import { Stage, untilStatus } from '../helpers/temporal/play-run.ts';
import { plan } from '../helpers/outputs/run-facts.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';
import { resetBeforeUpdate, resetToBeginning } from '../helpers/temporal/temporal-actions.ts';

const pauseReason: PauseReason = {
  type: 'service.unauthorized',
  reason: 'the key was refused',
  next: 'set another key',
};

/** Temporal does not send the approval again. */
const resetToApproval = (client: Client, runId: string): Promise<WorkflowHandle> =>
  resetBeforeUpdate(client, runId, 'approve', false);

const stage = await Stage.ofFile();

describe('a run', () => {
  it('a run that is reset while a page is open continues after the calls of this page', async () => {
    const activities = new ScriptedActivities();
    const answered = gate();
    activities.answer = async () => {
      await waitWithHeartbeat(answered);
      return { kind: 'done' };
    };
    await stage.play(activities, async (handle) => {
      await expect.poll(() => activities.handed.length).toBeGreaterThan(0);
      const reset = await resetToBeginning(stage.temporal.client, handle.workflowId);
      await untilStatus(reset, 'running');
      answered.open();
      await reset.result();
    });
    expect(activities.batches.sort()).toEqual([1, 101, 102, 2, 3]);
    expect(activities.ending).toBe('finished');
  });

  /** Activities of a run that no person has approved. */
  function unapproved() {
    const activities = new ScriptedActivities();
    activities.isApproved = false;
    return activities;
  }

  it('a run spends nothing before its approval, and refuses the hash of another plan', async () => {
    const activities = unapproved();
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'awaiting_approval');
      await expect(handle.executeUpdate('approve', { args: ['another'] })).rejects.toThrow();
      expect(activities.batches).toEqual([]);
      await handle.executeUpdate('approve', { args: [plan.plan_hash] });
      await handle.result();
    });
    expect(activities.batches).toHaveLength(5);
  });

  it.each([
    ['to its beginning waits for no other approval', resetToBeginning],
    ['to its approval continues with the next approval', resetToApproval],
  ])('an approved run that a reset has taken back %s', async (_, reset) => {
    const activities = unapproved();
    const answered = gate();
    activities.answer = async () => {
      await waitWithHeartbeat(answered);
      return { kind: 'done' };
    };
    await stage.play(activities, async (handle) => {
      const approve: { args: [string] } = { args: [plan.plan_hash] };
      await untilStatus(handle, 'awaiting_approval');
      await handle.executeUpdate('approve', approve);
      await expect.poll(() => activities.handed.length).toBeGreaterThan(0);
      const again = await reset(stage.temporal.client, handle.workflowId);
      if (reset === resetToApproval) {
        await untilStatus(again, 'awaiting_approval');
        await again.executeUpdate('approve', approve);
      }
      await untilStatus(again, 'running');
      answered.open();
      await again.result();
    });
    expect(activities.batches.sort()).toEqual([1, 101, 102, 2, 3]);
  });

  it('an approval that reaches a workflow before its plan is refused, and one in the tables counts', async () => {
    const activities = unapproved();
    const reading = gate();
    const ingest = activities.ingestExport;
    activities.ingestExport = async (request) => {
      await reading.opened;
      return ingest(request);
    };
    await stage.play(activities, async (handle) => {
      const refusal: unknown = await handle
        .executeUpdate('approve', { args: [plan.plan_hash] })
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({
        cause: { message: 'the run is ingesting: there is nothing to approve' },
      });
      activities.isApproved = true;
      reading.open();
      await handle.result();
    });
    expect(activities.statuses).toEqual(['planning', 'running']);
    expect(activities.batches).toHaveLength(5);
  });

  it('a run whose check of the service is refused pauses unpaid, and checks again when it is resumed', async () => {
    const activities = new ScriptedActivities();
    activities.service = (check) =>
      check === 1 ? { kind: 'refused', pauseReason } : { kind: 'ready', status: 'acting as user user-7' };
    let shown = '';
    await stage.play(
      activities,
      async (handle) => {
        await untilStatus(handle, 'paused');
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

  it('a run sends no further call when it is cancelled, and completes its outcomes', async () => {
    const activities = new ScriptedActivities();
    activities.answer = async () => {
      await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
      return { kind: 'stopped', pauseReason };
    };
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'running');
      await handle.executeUpdate('cancel', { args: ['no longer wanted'] });
      await handle.result();
    });
    expect(activities.batches).toEqual([]);
    expect(activities.ending).toBe('cancelled');
    expect(activities.comparisons).toBe(1);
  });

  it('a run completes its outcomes when it is cancelled in Temporal', async () => {
    const activities = new ScriptedActivities();
    let begun = false;
    activities.answer = async () => {
      begun = true;
      await expect.poll(() => activities.statuses.at(-1)).toBe('cancelling');
      return { kind: 'stopped', pauseReason };
    };
    await stage.play(activities, async (handle) => {
      await expect.poll(() => begun).toBe(true);
      await handle.cancel();
      await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
    });
    expect(activities.ending).toBe('cancelled');
  });
});
