import { beforeEach, describe, expect, it, vi } from 'vitest';
import { resumeRun } from '../../../src/cli/run/steer/start-run.ts';
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

describe('resumeRun() of a run that a person cancels', () => {
  it('resumeRun() starts no second workflow when the workflow has accepted the cancellation', async () => {
    handle.executeUpdate.mockResolvedValueOnce();
    expect(await resumeRun(session(), await cancellingRun())).toBe(handle);
    expect(handle.executeUpdate).toHaveBeenCalledWith('cancel', { args: ['wrong file'] });
    expect(start).not.toHaveBeenCalled();
  });

  it('resumeRun() starts no second workflow when the run ends before the cancellation arrives', async () => {
    const run = await cancellingRun();
    handle.executeUpdate.mockImplementationOnce(async () => {
      await setRunStatus(warehouse, run.runId, 'cancelled', undefined);
      throw Object.assign(new Error('the workflow has completed'), { name: 'WorkflowNotFoundError' });
    });
    expect(await resumeRun(session(), run)).toBe(handle);
    expect(start).not.toHaveBeenCalled();
  });

  it('resumeRun() starts the workflow of a cancelled run again if the workflow is lost', async () => {
    const lost = Object.assign(new Error('no such workflow'), { name: 'WorkflowNotFoundError' });
    handle.executeUpdate.mockRejectedValueOnce(lost);
    await resumeRun(session(), await cancellingRun());
    expect(start).toHaveBeenCalledOnce();
  });
});

it('resumeRun() approves the plan if an interrupted enrich pause has only changed the tables', async () => {
  const { runId } = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, runId, 'paused', { type: 'run.paused', reason: 'by hand', next: '' });
  const cause = Object.assign(new Error('the run is awaiting approval'), { name: 'ApplicationFailure' });
  const refusal = Object.assign(new Error('refused', { cause }), { name: 'WorkflowUpdateFailedError' });
  handle.executeUpdate.mockReset().mockRejectedValueOnce(refusal).mockResolvedValueOnce();
  const run = { ...(await getRun(warehouse, runId)), planHash: '0123456789abcdef' };
  expect(await resumeRun(session(), run)).toBe(handle);
  expect(handle.executeUpdate).toHaveBeenLastCalledWith('approve', { args: ['0123456789abcdef'] });
  expect(start).not.toHaveBeenCalled();
});
