import { describe, expect, it } from 'vitest';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { importLookups } from '../../../src/people/known/lookup-history.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { asked, outcomesOf, stagedRun, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { insertLookup } from '../../helpers/warehouse/lookups.ts';

const profile = { reveal: [], waterfall: [], service: 'test' };
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);
const warehouse = await warehouseOfFile();

/** Takes rows as asked for so many seconds ago. */
async function remember(rows: readonly StagedRow[], seconds: number, options = profile): Promise<number> {
  const { runId } = await stagedRun(warehouse, rows);
  return importLookups(warehouse, runId, ago(seconds), options);
}

/** What a plan makes of rows, by freshness clocks of an hour for misses and a day for the others. */
async function plan(rows: readonly StagedRow[]): Promise<(string | null)[]> {
  const { runId } = await stagedRun(warehouse, rows);
  await planRows(warehouse, runId, asked);
  return outcomesOf(warehouse, runId);
}

describe('people of an export that are taken as asked for', () => {
  it('importLookups() makes people of an export fresh by all their keys, and no other person', async () => {
    expect(await remember([{ keys: ['email:r1', 'profile:r1'] }, { keys: [] }], 60)).toBe(1);
    expect(await plan([{ keys: ['profile:r1'] }, { keys: ['email:r2'] }])).toEqual(['fresh', null]);
  });

  it('importLookups() makes people fresh until the time of not_found has passed', async () => {
    await remember([{ keys: ['email:r3'] }], 2 * 3_600);
    expect(await plan([{ keys: ['email:r3'] }])).toEqual([null]);
  });

  it('importLookups() keeps newer lookups', async () => {
    await insertLookup(warehouse.pool, { key: 'email:r4', secondsAgo: 2 * 86_400 });
    await insertLookup(warehouse.pool, { key: 'email:r5', secondsAgo: 60 });
    const rows = [{ keys: ['email:r4'] }, { keys: ['email:r5'] }];
    // Longer ago than misses count, and not longer than those who were found do.
    await remember(rows, 2 * 3_600);
    expect(await plan(rows)).toEqual(['fresh', 'fresh']);
  });

  it('importLookups() counts only for the fields and the service that were asked for', async () => {
    await remember([{ keys: ['email:r6'] }], 60, { ...profile, service: 'another' });
    expect(await plan([{ keys: ['email:r6'] }])).toEqual([null]);
  });
});
