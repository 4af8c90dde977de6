import { describe, expect, it, vi } from 'vitest';
import type { RunStatus } from '../../src/contract/run-statuses.ts';
import { Stage, untilStatus } from '../helpers/temporal/play-run.ts';
import { ScriptedActivities } from '../helpers/temporal/scripted-activities.ts';

const stage = await Stage.ofFile();

/** Activities of a run whose tables say that a person has cancelled or paused it. The update did not arrive. */
function recorded(status: RunStatus, reason: { readonly type: string; readonly reason: string }) {
  const activities = new ScriptedActivities();
  activities.write(status, { ...reason, next: 'enrich …' });
  return activities;
}

const wrongFile = { type: 'run.cancelled', reason: 'wrong file', next: 'enrich …' };

describe('a decision of a person that only the tables have', () => {
  it.each([true, false])(
    'a run whose cancellation only the tables have ends without a call (approved: %s)',
    async (isApproved) => {
      const activities = recorded('cancelling', wrongFile);
      activities.isApproved = isApproved;
      await stage.play(activities, (handle) => handle.result());
      expect(activities.ending).toBe('cancelled');
      expect(activities.handed).toEqual([]);
    },
  );

  it('a run that is cancelled in the tables during a page ends with the page', async () => {
    const activities = new ScriptedActivities();
    activities.answer = () => {
      activities.write('cancelling', wrongFile);
      return { kind: 'stopped', calls: 0, pauseReason: wrongFile };
    };
    await stage.play(activities, (handle) => handle.result());
    expect(activities.ending).toBe('cancelled');
    expect(activities.handed).not.toEqual([]);
    expect(activities.batches).toEqual([]);
  });

  it('a run that ended in the tables during a page makes no further call', async () => {
    const activities = new ScriptedActivities();
    activities.answer = () => {
      activities.write('failed', wrongFile);
      return { kind: 'stopped', calls: 0, pauseReason: wrongFile };
    };
    await stage.play(activities, (handle) => handle.result());
    expect(activities.handed).toHaveLength(2);
  });

  it.each(['ingesting', 'awaiting_approval'] as const)(
    'a run whose tables have lost that it makes calls is running again (%s)',
    async (status) => {
      const activities = new ScriptedActivities();
      activities.answer = (_, execution) => {
        if (execution > 1) return { kind: 'done', calls: 1 };
        activities.write(status);
        return { kind: 'stopped', calls: 0, pauseReason: wrongFile };
      };
      await stage.play(activities, (handle) => handle.result());
      expect(activities.statuses).toEqual(['planning', 'running', 'running']);
      expect(activities.batches).toHaveLength(5);
    },
  );

  it.each([
    { type: 'run.paused', reason: 'budget review' },
    { type: 'pilot.done', reason: 'pilot of 20 people' },
    { type: 'service.overbilled', reason: 'a call cost more than its worst case' },
  ])('a run whose pause only the tables have makes no call before it is resumed: $type', async (pause) => {
    const activities = recorded('paused', pause);
    await stage.play(activities, async (handle) => {
      await untilStatus(handle, 'paused');
      expect(activities.handed).toEqual([]);
      await handle.executeUpdate('resume');
      await handle.result();
    });
    expect(activities.batches).toHaveLength(5);
    expect(activities.ending).toBe('finished');
  });

  it('a run that is resumed while its paused page ends does not take the older pause from the tables', async () => {
    const pauseReason = { type: 'run.interrupted', reason: 'the command ended', next: 'enrich …' } as const;
    const activities = new ScriptedActivities();
    const resume = { isBegun: false, isWritten: false };
    let areFactsRead = false;
    const { readRunFacts, setRunStatus } = activities;
    activities.readRunFacts = async (request) => {
      areFactsRead = true;
      return readRunFacts(request);
    };
    activities.setRunStatus = async (request) => {
      if (request.by === 'resume') {
        resume.isBegun = true;
        await vi.waitUntil(() => areFactsRead, { timeout: 500 }).catch(() => {});
        resume.isWritten = true;
      }
      return setRunStatus(request);
    };
    await stage.play(activities, async (handle) => {
      activities.answer = async () => {
        if (resume.isWritten) return { kind: 'done', calls: 1 };
        void handle.executeUpdate('resume');
        await vi.waitUntil(() => resume.isBegun, { timeout: 5_000 });
        return { kind: 'stopped', calls: 0, pauseReason };
      };
      await handle.result();
    });
    expect(activities.batches).toHaveLength(5);
  });
});
