import { beforeEach, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../../src/contract/run-statuses.ts';
import { approveRun } from '../../../src/runs/approve-run.ts';
import { findLatestFor } from '../../../src/runs/latest-run.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { getRun, servicesOfRuns, setRunStatus } from '../../../src/runs/runs.ts';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

beforeEach(async () => {
  await warehouse.query`truncate enrichment.runs cascade`;
});

/** Younger than all before. */
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

it('servicesOfRuns() names the services of runs that may have spent credits, and of no plans', async () => {
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

it('the last part of a run id names one run, and is refused where two runs have it', async () => {
  await begin('a.csv', 'finished', 'hand');
  await begin('b.csv', 'finished', 'hand');
  await warehouse.query`delete from enrichment.notifications`;
  const rename = (file: string): Promise<unknown> =>
    warehouse.pool.query(`update enrichment.runs set run_id = $1 where file_name = $2`, [
      `${file}-0a1b2c`,
      file,
    ]);
  await rename('a.csv');
  expect((await getRun(warehouse, '0a1b2c')).runId).toBe('a.csv-0a1b2c');
  await rename('b.csv');
  await expect(getRun(warehouse, '0a1b2c')).rejects.toMatchObject({ type: 'run.ambiguous' });
});

it('the beginning and the end of a run id, as a narrow terminal shows them, name one run', async () => {
  const id = await begin('a.csv', 'finished', 'hand');
  for (const shown of [
    `enri…${id.slice(-3)}`,
    `enrich-…${id.slice(-6)}`,
    `${id.slice(0, -9)}...${id.slice(-4)}`,
  ])
    expect((await getRun(warehouse, shown)).runId).toBe(id);
  for (const shown of ['enri…%%%', `…${id.slice(-3)}`, `${id}…${id}`])
    await expect(getRun(warehouse, shown)).rejects.toMatchObject({ type: 'run.unknown' });
  await begin('b.csv', 'finished', 'hand');
  await expect(getRun(warehouse, 'enrich-…')).rejects.toMatchObject({ type: 'run.ambiguous' });
});

describe('the run that is meant by "latest"', () => {
  it('"latest" is a waiting run to resume, a continuing run to pause, and otherwise the newest', async () => {
    const paused = await begin('a.csv', 'paused', 'hand');
    const running = await begin('b.csv', 'running', 'hand');
    const unapproved = await begin('c.csv', 'awaiting_approval', 'hand');
    await begin('d.csv', 'finished', 'hand');
    expect(await findLatestFor(warehouse, 'waiting')).toBe(unapproved);
    expect(await findLatestFor(warehouse, 'in-progress')).toBe(running);
    expect(await findLatestFor(warehouse, 'unfinished')).toBe(unapproved);
    await setRunStatus(warehouse, unapproved, 'cancelled', undefined);
    expect(await findLatestFor(warehouse, 'waiting')).toBe(paused);
  });

  it('"latest" prefers a run of a command to a newer run of a schedule', async () => {
    const mine = await begin('a.csv', 'paused', 'hand');
    const nightly = await begin('b.csv', 'paused', 'schedule');
    expect(await findLatestFor(warehouse, 'waiting')).toBe(mine);
    await setRunStatus(warehouse, mine, 'running', undefined);
    expect(await findLatestFor(warehouse, 'waiting')).toBe(nightly);
    expect(await findLatestFor(warehouse, 'unfinished')).toBe(mine);
  });

  it('"latest" is the continuing run if none waits, and no run if all have ended', async () => {
    const running = await begin('a.csv', 'running', 'schedule');
    expect(await findLatestFor(warehouse, 'waiting')).toBe(running);
    await setRunStatus(warehouse, running, 'finished', undefined);
    expect(await findLatestFor(warehouse, 'waiting')).toBeUndefined();
  });

  it('"latest" of a reading command is the newest run that is no plan', async () => {
    await begin('a.csv', 'paused', 'hand');
    const finished = await begin('b.csv', 'finished', 'schedule');
    await begin('c.csv', 'planned', 'plan');
    expect((await getRun(warehouse, 'latest')).runId).toBe(finished);
  });
});
