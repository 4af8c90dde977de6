import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineSchedule } from '../../src/cli/schedule-definition.ts';
import { outlookOf, overrunWarning } from '../../src/cli/schedule-outlook.ts';
import { readConfig } from '../../src/config.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/database.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'enrich-outlook-'));
let database: TestDatabase;
let warehouse: Warehouse;

beforeAll(async () => {
  database = await createTestDatabase();
  warehouse = openWarehouse(database.databaseUrl, { connections: 2 });
  for (const [name, people] of [
    ['a.csv', 20],
    ['b.csv', 300],
  ] as const)
    writeFileSync(join(folder, name), [...sampleExport({ people, seed: 1 })].join(''));
  await warehouse.pool.query(`create table public.leads (id int, email text);
    insert into public.leads values (1, 'ada@leads.example')`);
});

afterAll(async () => {
  await warehouse.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Times so many hours apart. */
function times(...hours: readonly number[]): Date[] {
  return hours.map((hour) => new Date(Date.UTC(2026, 10, 21, hour)));
}

/** 30 calls for the 300 people of `b.csv`: three hours. */
async function outlook(given: Readonly<Record<string, string>>, hours: readonly number[]): Promise<string> {
  const config = readConfig({ ENRICH_DATA_DIR: join(folder, 'state'), RATE_LIMITS: '10/hour' });
  const fields = { cron: '@hourly', 'max-credits': '500', ...given };
  const definition = await defineSchedule('nightly', fields, { folder, group: null, hasBudget: true });
  return (await outlookOf({ config, warehouse }, definition, times(...hours))).join('\n');
}

describe('the outlook of a schedule', () => {
  it('warns of an export whose calls are not done before the next time', async () => {
    const told = await outlook({ file: 'b.csv' }, [0, 1, 2]);
    expect(told).toMatch(/would find now: \S+b\.csv, with \d+ people to ask for/);
    expect(told).toMatch(
      /note: nightly: the plan of b\.csv takes about 2h .* only 1h 0m to the next time: it overruns/,
    );
  });

  it('goes by the shortest time between two', async () => {
    expect(await outlook({ file: 'b.csv' }, [0, 12, 13])).toContain('it overruns');
    expect(await outlook({ file: 'b.csv' }, [0, 12, 24])).not.toContain('note');
  });

  it('takes the latest of every new file, and rows as they are now', async () => {
    expect(await outlook({ 'every-new': '*.csv' }, [0, 24])).toMatch(/\.csv and 1 more, with \d+ people/);
    expect(await outlook({ 'from-table': 'leads' }, [0, 24])).toBe(
      'nightly would find now: public.leads, with 1 people to ask for',
    );
  });

  it('is a note where nothing can be seen from here', async () => {
    expect(await outlook({ file: 'none.csv' }, [0, 24])).toMatch(/^note: nightly: there is no such file/);
    expect(await outlook({ newest: '*.txt' }, [0, 24])).toBe('nightly would find now: no file');
    expect(await outlook({ query: 'select * from nowhere' }, [0, 24])).toMatch(/^note: .*nowhere/);
  });

  it('leaves nothing behind that would be gone on with', async () => {
    await outlook({ file: 'b.csv' }, [0, 24]);
    const { rows } = await warehouse.pool.query(
      `select distinct status, (select count(*)::int from run_rows) as rows from runs`,
    );
    expect(rows).toEqual([{ status: 'planned', rows: 0 }]);
  });
});

describe('a plan', () => {
  it.each([
    [3_600, [0, 1], undefined],
    [3_601, [0, 1], expect.stringContaining('1h 0m')],
    [3_601, [0], undefined],
    [3_601, [], undefined],
  ])('of %i seconds, with times at %j', (seconds, hours, warning) =>
    expect(overrunWarning(seconds, times(...hours))).toEqual(warning),
  );
});
