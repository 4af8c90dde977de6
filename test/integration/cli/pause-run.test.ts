import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pauseRun } from '../../../src/cli/run/steer-run.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import type { Outcome } from '../../../src/domain/runs/outcome.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { asked, stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

const executeUpdate = vi.fn<() => Promise<void>>();
const handle = {
  describe: () => Promise.resolve({ staticSummary: () => Promise.resolve('') }),
  executeUpdate,
};

beforeEach(() => executeUpdate.mockReset());

function session(): Session {
  const client = {
    workflow: { getHandle: () => handle },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
  };
  const stack = { temporal: { embedded: false } };
  return { warehouse, stack, temporal: () => Promise.resolve(client) } as unknown as Session;
}

/** @param outcome of the only person whom the run asks for; undefined: the person has none yet */
async function runOfOne(outcome: Outcome | undefined): Promise<RunRecord> {
  const { runId } = await stagedRun(warehouse, [{ keys: ['email:ada@orbit.example'] }]);
  await planRows(warehouse, runId, asked);
  await setRunStatus(warehouse, runId, 'running', undefined);
  await warehouse.database
    .updateTable('runs')
    .set({ plan_hash: 'hash' })
    .where('run_id', '=', runId)
    .execute();
  if (outcome !== undefined)
    await warehouse.database.updateTable('run_rows').set({ outcome }).where('run_id', '=', runId).execute();
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

it('pauseRun() records the pause before the workflow receives it, if people are left to ask for', async () => {
  expect(await statusAtUpdate(await runOfOne(undefined))).toBe('paused');
});

it('pauseRun() lets a run continue whose workflow refuses the pause', async () => {
  const run = await runOfOne(undefined);
  const cause = Object.assign(new Error('no call is left'), { name: 'ApplicationFailure' });
  executeUpdate.mockRejectedValueOnce(
    Object.assign(new Error('refused'), { name: 'WorkflowUpdateFailedError', cause }),
  );
  await expect(pauseRun(session(), run, 'review')).rejects.toMatchObject({ type: 'run.not-steerable' });
  expect(await getRun(warehouse, run.runId)).toMatchObject({ status: 'running' });
});

describe('pauseRun() of a run without its workflow', () => {
  const gone = Object.assign(new Error('not found'), { name: 'WorkflowNotFoundError' });

  it('pauseRun() pauses a run without its workflow in the tables', async () => {
    const run = await runOfOne(undefined);
    executeUpdate.mockRejectedValueOnce(gone);
    await pauseRun(session(), run, { by: 'anna', reason: 'budget review' });
    expect(await getRun(warehouse, run.runId)).toMatchObject({
      status: 'paused',
      pauseReason: { type: 'run.paused', reason: 'paused by anna: budget review' },
    });
  });
});
