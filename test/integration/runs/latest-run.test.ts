import { beforeEach, expect, it } from 'vitest';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';
import {
  approveRun,
  findEarlierRunWithCalls,
  getRun,
  listCallingRuns,
  servicesOfRuns,
  setRunStatus,
} from '../../../src/runs/runs.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

beforeEach(async () => {
  await warehouse.query`truncate enrichment.runs cascade`;
});

/** Begins a run that is newer than all earlier runs. */
async function begin(file: string, status: RunStatus, by: 'hand' | 'schedule' | 'plan'): Promise<string> {
  const { run } = await findOrBeginRun(warehouse, {
    filePath: file,
    fileName: file,
    fileSha256: file,
    options: { source: null } as RunOptions,
    expectedPlanHash: null,
    planOnly: by === 'plan',
    ...(by === 'schedule' && { asOf: new Date('2026-11-21T02:00:00Z') }),
  });
  if (status !== 'awaiting_approval') await approveRun(warehouse, run.runId);
  await setRunStatus(warehouse, run.runId, status, undefined);
  return run.runId;
}

it('servicesOfRuns() lists the services of runs that may have spent credits, not of plans', async () => {
  const { run } = await findOrBeginRun(warehouse, {
    filePath: 'a.csv',
    fileName: 'a.csv',
    fileSha256: 'a',
    options: { source: null, service: 'sandbox' } as RunOptions,
    expectedPlanHash: null,
    planOnly: true,
  });
  expect(await servicesOfRuns(warehouse)).toEqual([]);
  await warehouse.query`update enrichment.runs set run_key = 'x' where run_id = ${run.runId}`;
  expect(await servicesOfRuns(warehouse)).toEqual(['sandbox']);
});

it('getRun() finds a run by the last part of its id, and refuses a part that two runs share', async () => {
  await begin('a.csv', 'finished', 'hand');
  await begin('b.csv', 'finished', 'hand');
  await warehouse.query`delete from enrichment_internal.notifications`;
  const rename = (file: string): Promise<unknown> =>
    warehouse.query`
      update enrichment.runs set run_id = ${`${file}-0a1b2c`} where file_name = ${file}`;
  await rename('a.csv');
  expect((await getRun(warehouse, '0a1b2c')).runId).toBe('a.csv-0a1b2c');
  await rename('b.csv');
  await expect(getRun(warehouse, '0a1b2c')).rejects.toMatchObject({ type: 'run.ambiguous' });
});

it('"latest" is the newest run, started by hand or by a schedule, and never a plan', async () => {
  await begin('a.csv', 'paused', 'hand');
  const nightly = await begin('b.csv', 'finished', 'schedule');
  await begin('c.csv', 'planned', 'plan');
  expect((await getRun(warehouse, 'latest')).runId).toBe(nightly);
});

it('the error about an unknown run names the command that lists runs', async () => {
  await expect(getRun(warehouse, 'no-such-run')).rejects.toMatchObject({
    type: 'run.unknown',
    where: 'the runs that enrich status lists',
  });
});

it('listCallingRuns() lists running runs and runs that wait for a budget, not paused runs', async () => {
  const running = await begin('a.csv', 'running', 'hand');
  const waiting = await begin('b.csv', 'running', 'schedule');
  const paused = await begin('c.csv', 'running', 'hand');
  const reason = { reason: 'a reason', next: 'a next step' };
  await setRunStatus(warehouse, waiting, 'paused', { ...reason, type: 'budget.empty' });
  await setRunStatus(warehouse, paused, 'paused', { ...reason, type: 'run.paused' });
  await begin('d.csv', 'running', 'plan');
  const runs = await listCallingRuns(warehouse);
  expect(runs.map(({ runId }) => runId)).toEqual([running, waiting]);
});

it('findEarlierRunWithCalls() finds the newest earlier run of the same source that has made a call', async () => {
  const earlier = await begin('a.csv', 'finished', 'hand');
  const withoutCalls = await begin('b.csv', 'finished', 'hand');
  const elsewhere = await begin('c.csv', 'finished', 'hand');
  const latest = await begin('d.csv', 'finished', 'hand');
  await warehouse.query`update runs set source = case run_id when ${elsewhere} then 'other' else 'crm' end`;
  const call = (runId: string, status: string): Promise<unknown> => warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids)
    values (gen_random_uuid(), ${runId}, 1, ${status}, 1, 1, 0, '{}')`;
  await call(earlier, 'settled');
  await call(withoutCalls, 'released');
  await call(elsewhere, 'settled');
  await call(latest, 'settled');
  expect(await findEarlierRunWithCalls(warehouse, latest)).toBe(earlier);
  expect(await findEarlierRunWithCalls(warehouse, earlier)).toBeUndefined();
});
