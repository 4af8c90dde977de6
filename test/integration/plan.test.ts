import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWarehouse, type Warehouse } from '../../src/warehouse/database.ts';
import { openPage } from '../../src/warehouse/pages.ts';
import { planRows } from '../../src/warehouse/plan.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database.ts';
import { outcomesOf, stagedRun, type StagedRow } from '../helpers/rows.ts';

const freshness = { enrichedSeconds: 86_400, notFoundSeconds: 3_600 };
let database: TestDatabase;
let warehouse: Warehouse;

beforeAll(async () => {
  database = await createTestDatabase();
  warehouse = openWarehouse(database.databaseUrl);
});

afterAll(async () => {
  await warehouse.close();
  await database.drop();
});

async function planned(rows: readonly StagedRow[]): Promise<(string | null)[]> {
  const run = await stagedRun(warehouse, rows);
  await planRows(warehouse, run.runId, freshness);
  return outcomesOf(warehouse, run.runId);
}

async function remember(key: string, outcome: string, secondsAgo: number): Promise<void> {
  await warehouse.pool.query(
    `insert into identity_memory values ($1, 'profile', $2, now() - make_interval(secs => $3), 'run-before')`,
    [key, outcome, secondsAgo],
  );
}

describe('duplicates', () => {
  it('are one person also by way of a third row', async () => {
    const rows = [{ keys: ['email:a1'] }, { keys: ['profile:p1'] }, { keys: ['email:a1', 'profile:p1'] }];
    expect(await planned(rows)).toEqual([null, 'duplicate', 'duplicate']);
  });

  it('are found along a chain of a thousand rows that share keys pairwise', async () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => ({ keys: [`k:${index}`, `k:${index + 1}`] }));
    const outcomes = await planned(rows.reverse());
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(1);
    expect(outcomes[0]).toBeNull();
  });

  it('are not rows that were dropped already', async () => {
    expect(await planned([{ keys: ['email:m1'], outcome: 'malformed' }, { keys: ['email:m1'] }])).toEqual([
      'malformed',
      null,
    ]);
  });
});

describe('people who are not asked for', () => {
  it('an opted-out contact takes the other rows of the same person with it', async () => {
    const rows = [{ keys: ['email:o1'] }, { keys: ['email:o1'], optedOut: true }, { keys: ['email:o2'] }];
    expect(await planned(rows)).toEqual(['suppressed', 'suppressed', null]);
  });

  it('found people and missed people stay fresh by clocks of their own', async () => {
    await remember('email:f1', 'enriched', 7_200);
    await remember('email:f2', 'not_found', 7_200);
    await remember('email:f3', 'not_found', 1_800);
    await remember('email:f4', 'enriched', 90_000);
    const rows = ['f1', 'f2', 'f3', 'f4'].map((name) => ({ keys: [`email:${name}`] }));
    expect(await planned(rows)).toEqual(['fresh', null, 'fresh', null]);
  });

  it('what is known of one row of a person is known of the person', async () => {
    await remember('profile:g1', 'enriched', 60);
    expect(await planned([{ keys: ['email:g1'] }, { keys: ['email:g1', 'profile:g1'] }])).toEqual([
      'fresh',
      'duplicate',
    ]);
  });

  it('a person whom another run is asking for is in flight', async () => {
    const other = await stagedRun(warehouse, [{ keys: ['email:c1', 'profile:c1'] }]);
    await planRows(warehouse, other.runId, freshness);
    await openPage(warehouse, other.runId, 1, freshness);
    expect(await planned([{ keys: ['profile:c1'] }, { keys: ['email:c2'] }])).toEqual(['in_flight', null]);
  });
});

describe('the hash of a plan', () => {
  it('is the same for the same file and other for another fate of a row', async () => {
    const run = await stagedRun(warehouse, [{ keys: ['email:h1'] }, { keys: ['email:h2'] }]);
    const first = await planRows(warehouse, run.runId, freshness);
    expect((await planRows(warehouse, run.runId, freshness)).planHash).toBe(first.planHash);

    const again = await stagedRun(warehouse, [{ keys: ['email:h1'] }, { keys: ['email:h2'] }]);
    await warehouse.pool.query('update runs set file_sha256 = $2 where run_id = $1', [
      again.runId,
      run.fileSha256,
    ]);
    await remember('email:h2', 'enriched', 1);
    expect((await planRows(warehouse, again.runId, freshness)).planHash).not.toBe(first.planHash);
  });
});

describe('opening a page', () => {
  it('claims its people: of two runs with the same person one asks', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => stagedRun(warehouse, [{ keys: ['email:w1'] }])));
    await planRows(warehouse, one!.runId, freshness);
    await planRows(warehouse, other!.runId, freshness);
    const opened = await Promise.all(
      [one!, other!].map((run) => openPage(warehouse, run.runId, 1, freshness)),
    );
    expect(opened.map((page) => page.people).sort()).toEqual([0, 1]);
  });

  it('again gives the same batches', async () => {
    const rows = Array.from({ length: 25 }, (_, index) => ({ keys: [`email:again-${index}`] }));
    const run = await stagedRun(warehouse, rows);
    await planRows(warehouse, run.runId, freshness);
    const first = await openPage(warehouse, run.runId, 1, freshness);
    expect(first).toEqual({ batches: [1, 2, 3], people: 25 });
    expect(await openPage(warehouse, run.runId, 1, freshness)).toEqual(first);
  });

  it('drops a person who was asked for since the plan was made', async () => {
    const run = await stagedRun(warehouse, [{ keys: ['email:since-1'] }]);
    await planRows(warehouse, run.runId, freshness);
    await remember('email:since-1', 'enriched', 1);
    expect(await openPage(warehouse, run.runId, 1, freshness)).toEqual({ batches: [], people: 0 });
    expect(await outcomesOf(warehouse, run.runId)).toEqual(['fresh']);
  });
});
