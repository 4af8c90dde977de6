import { beforeEach, expect, it, vi } from 'vitest';
import { pauseRun, resumeRun } from '../../../src/cli/run/steer-run.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { testLookupRequest, stagedRun } from '../../helpers/warehouse/rows.ts';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

const cancelled = { type: 'run.cancelled', reason: 'wrong file', next: '' };
const start = vi.fn();
const executeUpdate = vi.fn<() => Promise<void>>();
const handle = {
  describe: () => Promise.resolve({ staticSummary: () => Promise.resolve('') }),
  executeUpdate,
};

beforeEach(() => {
  start.mockReset();
  executeUpdate.mockReset();
});

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

/** A run that has one person left to request. */
async function runOfOne(): Promise<RunRecord> {
  const { runId } = await stagedRun(warehouse, [{ keys: ['email:ada@orbit.example'] }]);
  await planRows(warehouse, runId, testLookupRequest);
  await setRunStatus(warehouse, runId, 'running', undefined);
  await warehouse.database
    .updateTable('runs')
    .set({ plan_hash: 'hash' })
    .where('run_id', '=', runId)
    .execute();
  return getRun(warehouse, runId);
}

/** The status of a run at the moment when its workflow receives the pause. */
async function statusAtUpdate(run: RunRecord): Promise<string | undefined> {
  let status: string | undefined;
  executeUpdate.mockImplementationOnce(async () => {
    ({ status } = await getRun(warehouse, run.runId));
  });
  await pauseRun(session(), run, 'budget review');
  return status;
}

it('pauseRun() stores the status paused before it sends the pause to the workflow', async () => {
  expect(await statusAtUpdate(await runOfOne())).toBe('paused');
});

it('pauseRun() sets the run back to running if the workflow refuses the pause', async () => {
  const run = await runOfOne();
  const cause = Object.assign(new Error('no call is left'), { name: 'ApplicationFailure' });
  executeUpdate.mockRejectedValueOnce(
    Object.assign(new Error('refused'), { name: 'WorkflowUpdateFailedError', cause }),
  );
  await expect(pauseRun(session(), run, 'review')).rejects.toMatchObject({ type: 'run.not-steerable' });
  expect(await getRun(warehouse, run.runId)).toMatchObject({ status: 'running' });
});

const gone = Object.assign(new Error('not found'), { name: 'WorkflowNotFoundError' });

it('pauseRun() stores the status paused and its reason if the workflow does not exist any more', async () => {
  const run = await runOfOne();
  executeUpdate.mockRejectedValueOnce(gone);
  await pauseRun(session(), run, { by: 'anna', reason: 'budget review' });
  expect(await getRun(warehouse, run.runId)).toMatchObject({
    status: 'paused',
    pauseReason: { type: 'run.paused', reason: 'paused by anna: budget review' },
  });
});

async function cancellingRun(): Promise<RunRecord> {
  const { runId } = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, runId, 'cancelling', cancelled);
  return getRun(warehouse, runId);
}

it('resumeRun() of a run being cancelled starts no second workflow if the first has just ended', async () => {
  const run = await cancellingRun();
  executeUpdate.mockImplementationOnce(async () => {
    await setRunStatus(warehouse, run.runId, 'cancelled', undefined);
    throw Object.assign(new Error('the workflow has completed'), { name: 'WorkflowNotFoundError' });
  });
  expect(await resumeRun(session(), run, true)).toBe(handle);
  expect(start).not.toHaveBeenCalled();
});

const planned = async (status: RunStatus): Promise<RunRecord> => {
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`update runs set approved_at = null, plan = '{"plan_hash": "abc"}' where run_id = ${runId}`;
  await setRunStatus(warehouse, runId, status, undefined);
  return getRun(warehouse, runId);
};

it('resumeRun() approves the stored plan of a run that awaits approval', async () => {
  const run = await planned('awaiting_approval');
  expect(await resumeRun(session(), run, true)).toBe(handle);
  expect(executeUpdate).toHaveBeenCalledExactlyOnceWith('approve', { args: ['abc'] });
  expect(await getRun(warehouse, run.runId)).toMatchObject({ isApproved: true });
  expect(start).not.toHaveBeenCalled();
});

it.each([true, false])(
  'resumeRun() resumes a paused run without approving its plan (approves: %s)',
  async (approves) => {
    const run = await planned('paused');
    await resumeRun(session(), run, approves);
    expect(executeUpdate).toHaveBeenCalledExactlyOnceWith('resume');
    expect(await getRun(warehouse, run.runId)).toMatchObject({ isApproved: false });
  },
);
