import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';
import { resumeRun } from '../../../src/cli/run/steer-run.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

const cancelled = { type: 'run.cancelled', reason: 'wrong file', next: '' };
const start = vi.fn();
const handle = {
  describe: () => Promise.resolve({ staticSummary: () => Promise.resolve('') }),
  executeUpdate: vi.fn<() => Promise<void>>(),
};

beforeEach(() => start.mockReset());

function session(): Session {
  const client = {
    workflow: { getHandle: () => handle, start },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    connection: {
      operatorService: {
        listSearchAttributes: () => Promise.resolve({ customAttributes: {} }),
        addSearchAttributes: () => Promise.resolve({}),
      },
    },
    options: { namespace: 'default' },
  };
  const config = { callConcurrency: 1, lateResults: { pollAfterSeconds: 1 } };
  const stack = { temporal: { embedded: false } };
  return { warehouse, config, stack, temporal: () => Promise.resolve(client) } as unknown as Session;
}

async function cancellingRun(): Promise<RunRecord> {
  const { runId } = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, runId, 'cancelling', cancelled);
  return getRun(warehouse, runId);
}

it('resumeRun() starts no second workflow when the run ends before the cancellation arrives', async () => {
  const run = await cancellingRun();
  handle.executeUpdate.mockImplementationOnce(async () => {
    await setRunStatus(warehouse, run.runId, 'cancelled', undefined);
    throw Object.assign(new Error('the workflow has completed'), { name: 'WorkflowNotFoundError' });
  });
  expect(await resumeRun(session(), run, true)).toBe(handle);
  expect(start).not.toHaveBeenCalled();
});

describe('resumeRun() of a run without an approval', () => {
  const planned = async (status: RunStatus): Promise<RunRecord> => {
    const { runId } = await stagedRun(warehouse, []);
    await warehouse.query`update runs set approved_at = null, plan = '{"planHash": "abc"}' where run_id = ${runId}`;
    await setRunStatus(warehouse, runId, status, undefined);
    handle.executeUpdate.mockReset();
    return getRun(warehouse, runId);
  };

  it('resumeRun() approves the plan that the run shows', async () => {
    const run = await planned('awaiting_approval');
    expect(await resumeRun(session(), run, true)).toBe(handle);
    expect(handle.executeUpdate).toHaveBeenCalledExactlyOnceWith('approve', { args: ['abc'] });
    expect(await getRun(warehouse, run.runId)).toMatchObject({ isApproved: true });
    expect(start).not.toHaveBeenCalled();
  });

  it.each([true, false])(
    'resumeRun() does not approve the plan of a run that was paused before it was planned (approves: %s)',
    async (approves) => {
      const run = await planned('paused');
      await resumeRun(session(), run, approves);
      expect(handle.executeUpdate).toHaveBeenCalledExactlyOnceWith('resume');
      expect(await getRun(warehouse, run.runId)).toMatchObject({ isApproved: false });
    },
  );
});
