import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExportChoice, RunInput, ScheduledRunInput } from '../../src/contract.ts';
import { beginScheduledRuns, type ScheduleDependencies } from '../../src/enrichment/scheduled-run.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/database.ts';
import { endRun, setRunStatus } from '../../src/warehouse/runs.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database.ts';

const night = '2026-11-20T23:30:00.000Z';
let database: TestDatabase;
let warehouse: Warehouse;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  warehouse = openWarehouse(database.databaseUrl, { connections: 2 });
});

afterAll(async () => {
  await warehouse.close();
  await database.drop();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'enrich-night-'));
  return () => rmSync(folder, { recursive: true });
});

/** Each file an hour younger than the one before. */
let age = 0;
function write(name: string, content = `${folder} ${name}`): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  age += 3_600;
  utimesSync(path, age, age);
  return path;
}

async function begin(
  choice: ExportChoice,
  changes: Partial<ScheduledRunInput> = {},
  settings: Partial<ScheduleDependencies> = {},
): Promise<readonly RunInput[]> {
  const dependencies: ScheduleDependencies = {
    warehouse,
    callConcurrency: 4,
    pollAfterSeconds: 900,
    defaults: {
      service: 'sandbox',
      maxCredits: null,
      freshness: { enrichedSeconds: 86_400, notFoundSeconds: 86_400 },
      lateDeadlineSeconds: 3_600,
    },
    hasPeriodBudget: false,
    ...settings,
  };
  const input = {
    schedule: 'nightly',
    group: null,
    export: { ...choice, path: join(folder, choice.path) },
    timezone: 'Europe/Berlin',
    source: null,
    mapping: null,
    reveal: [],
    waterfall: [],
    maxCreditsPerPerson: null,
    maxCredits: '500',
    noBudget: false,
    freshness: null,
    lateDeadlineSeconds: null,
    searchable: false,
    asOf: night,
    ...changes,
  };
  const { runs } = await beginScheduledRuns(dependencies, input, new AbortController().signal);
  return runs;
}

async function finish(runs: readonly RunInput[]): Promise<void> {
  for (const { runId } of runs) await endRun(warehouse, runId, 'finished', undefined);
}

describe('the runs of a schedule', () => {
  it('stand for its time, behind ad hoc runs, with its budget and the settings of the worker', async () => {
    write('contacts-2026-11-21.csv');
    const [run] = await begin({ kind: 'file', path: 'contacts-{date}.csv' }, { reveal: ['phone'] });
    expect(run).toMatchObject({
      file: 'contacts-2026-11-21.csv',
      maxCredits: '500',
      approved: true,
      lateResults: { pollAfterSeconds: 900 },
    });
    const { rows } = await warehouse.pool.query(
      'select as_of, options from enrichment.runs where run_id = $1',
      [run!.runId],
    );
    expect(rows[0]).toMatchObject({
      as_of: new Date(night),
      options: { priority: 'nightly', maxCredits: '500', lateDeadlineSeconds: 3_600, service: 'sandbox' },
    });
  });

  it('are found again while they are unfinished, as by an activity that is tried twice', async () => {
    write('a.csv');
    const choice: ExportChoice = { kind: 'file', path: 'a.csv' };
    expect(await begin(choice)).toEqual(await begin(choice));
  });

  it('are refused without any budget, unless the schedule says so or the worker has one', async () => {
    write('a.csv');
    const choice: ExportChoice = { kind: 'file', path: 'a.csv' };
    await expect(begin(choice, { maxCredits: null })).rejects.toMatchObject({ type: 'credits.no-ceiling' });
    await expect(begin(choice, { maxCredits: null, noBudget: true })).resolves.toHaveLength(1);
    await expect(begin(choice, { maxCredits: null }, { hasPeriodBudget: true })).resolves.toHaveLength(1);
  });

  it('fail where the named file is missing, and are none where no file fits a pattern', async () => {
    await expect(begin({ kind: 'file', path: 'a.csv' })).rejects.toMatchObject({ type: 'export.missing' });
    expect(await begin({ kind: 'newest', path: '*.csv', by: 'time' })).toEqual([]);
  });
});

describe('every new file', () => {
  const choice: ExportChoice = { kind: 'every-new', path: '*.csv' };

  it('is run once, oldest first; the same content under another name is not new', async () => {
    write('b.csv', `${folder} monday`);
    write('a.csv', `${folder} tuesday`);
    write('copy.csv', `${folder} monday`);
    const first = await begin(choice);
    expect(first.map((run) => run.file)).toEqual(['b.csv', 'a.csv']);
    await finish(first);
    expect(await begin(choice)).toEqual([]);
    write('c.csv');
    expect((await begin(choice)).map((run) => run.file)).toEqual(['c.csv']);
  });

  it('stays done when the schedule gets another budget, and is new when it asks for something else', async () => {
    write('a.csv');
    await finish(await begin(choice));
    expect(await begin(choice, { maxCredits: '900' })).toEqual([]);
    expect(await begin(choice, { reveal: ['phone'] })).toHaveLength(1);
  });

  it('comes again while people of it are over budget, and not when it was refused', async () => {
    write('poor.csv');
    write('wrong.csv');
    const [poor, wrong] = await begin(choice);
    await warehouse.pool.query(
      `insert into enrichment.run_rows (run_id, row_number, contact_id, raw, keys, outcome) values ($1, 1, 'c1', '[]', '{}', 'over_budget')`,
      [poor!.runId],
    );
    await finish([poor!]);
    await setRunStatus(warehouse, wrong!.runId, 'failed', { type: 'x', reason: 'x', next: 'x' });
    expect((await begin(choice)).map((run) => run.file)).toEqual(['poor.csv']);
  });
});
