import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { defineSchedule, type ScheduleDefinition } from '../../../src/cli/schedule/schedule-definition.ts';
import { outlookOf, overrunWarning } from '../../../src/cli/schedule/schedule-outlook.ts';
import { readConfig, runDefaults } from '../../../src/config/settings.ts';
import { optionsOf } from '../../../src/runs/begin-scheduled-runs.ts';
import { hashExport } from '../../../src/ingest/reading/bytes/file-bytes.ts';
import { sampleExport } from '../../../src/sandbox/population/sample-export.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const folder = temporaryFolder();
const warehouse = await warehouseOfFile({ connections: 2 });

beforeAll(async () => {
  for (const [name, people] of [
    ['a.csv', 20],
    ['b.csv', 300],
  ] as const)
    writeFileSync(join(folder, name), [...sampleExport({ people, seed: 1 })].join(''));
  await warehouse.query`
    create table public.leads (id int, email text);
    insert into public.leads values (1, 'ada@leads.example')`;
});

/** Times so many hours apart. */
function times(...hours: readonly number[]): Date[] {
  return hours.map((hour) => new Date(Date.UTC(2026, 10, 21, hour)));
}

/** 30 calls for the 300 people of `b.csv`: three hours. */
async function outlook(given: Readonly<Record<string, string>>, hours: readonly number[]): Promise<string> {
  return (await outlookOf({ config, warehouse }, await definitionOf(given), times(...hours))).join('\n');
}

const config = readConfig({
  ENRICH_DATA_DIR: join(folder, 'state'),
  RATE_LIMITS: '10/hour',
  MAX_CREDITS_PER_DAY: '500',
});

function definitionOf(given: Readonly<Record<string, string>>): Promise<ScheduleDefinition> {
  const fields = { cron: '@hourly', 'max-credits': '500', ...given };
  return defineSchedule('nightly', fields, { folder, group: null, hasBudget: true });
}

/** As a run of a schedule that was begun, and ended. */
async function endRunOf(
  name: string,
  given: Readonly<Record<string, string>>,
  status: 'finished' | 'cancelled',
): Promise<void> {
  const { work } = await definitionOf(given);
  const path = join(folder, name);
  const { run } = await findOrBeginRun(warehouse, {
    filePath: path,
    fileName: name,
    fileSha256: (await hashExport(path)).sha256,
    options: optionsOf({ defaults: runDefaults(config) }, { ...work, schedule: 'nightly' }),
    expectedPlanHash: null,
  });
  await endRun(warehouse, run.runId, status, undefined);
}

it('the outlook of a schedule warns of an export whose calls are not done before the next time', async () => {
  const told = await outlook({ file: 'b.csv' }, [0, 1, 2]);
  expect(told).toMatch(/would find now: \S+b\.csv, with \d+ people to ask for/);
  expect(told).toMatch(
    /note: nightly: the plan of b\.csv takes about 2h .* the next time comes after 1h 0m: it overruns/,
  );
});

it('the outlook of a schedule warns of an export whose expected cost does not fit the budget of a run', async () => {
  const told = await outlook({ file: 'b.csv', 'max-credits': '100' }, [0, 24]);
  expect(told).toMatch(
    /note: nightly: the plan of b\.csv is expected to cost [\d.]+ credits, and the budget of the run has 100:/,
  );
});

it('the outlook of a schedule does not warn of credits that today has used already', async () => {
  await warehouse.query`
    insert into budgets (budget_id, credits_limit, settled)
    values ('day:' || to_char(now() at time zone 'utc', 'YYYY-MM-DD'), 500, 490)
    on conflict (budget_id) do update set settled = 490`;
  expect(await outlook({ file: 'b.csv' }, [0, 24])).not.toContain('note');
});

it('the outlook of a schedule uses the shortest time between two runs', async () => {
  expect(await outlook({ file: 'b.csv' }, [0, 12, 13])).toContain('it overruns');
  expect(await outlook({ file: 'b.csv' }, [0, 12, 24])).not.toContain('note');
});

it('the outlook of a schedule reads the latest of every new file, and the current rows', async () => {
  expect(await outlook({ 'every-new': '*.csv' }, [0, 24])).toMatch(/\.csv and 1 more, with \d+ people/);
  expect(await outlook({ 'from-table': 'leads' }, [0, 24])).toBe(
    'nightly would find now: public.leads, with 1 person to ask for',
  );
});

it('the outlook of a schedule leaves out files that were run before, finished or cancelled', async () => {
  for (const name of ['old.txt', 'older.txt', 'new.txt'])
    writeFileSync(join(folder, name), `id,email\n1,${name}@orbit.example\n`);
  const given = { 'every-new': '*.txt' };
  await endRunOf('old.txt', given, 'finished');
  await endRunOf('older.txt', given, 'cancelled');
  expect(await outlook(given, [0, 24])).toMatch(/would find now: \S+new\.txt, with 1 /);
  await endRunOf('new.txt', given, 'cancelled');
  expect(await outlook(given, [0, 24])).toBe('nightly would find now: no new file');
  // It would ask for something else.
  expect(await outlook({ ...given, reveal: 'phone' }, [0, 24])).toMatch(/\.txt and 2 more, with 1 /);
});

it('the outlook of a schedule is a note if its export cannot be read from this machine', async () => {
  expect(await outlook({ file: 'none.csv' }, [0, 24])).toMatch(/^note: nightly: there is no such file/);
  expect(await outlook({ newest: '*.tsv' }, [0, 24])).toBe('nightly would find now: no file');
  expect(await outlook({ query: 'select * from nowhere' }, [0, 24])).toMatch(/^note: .*nowhere/);
});

it('the outlook of a schedule leaves no run that a command would continue', async () => {
  await outlook({ file: 'b.csv' }, [0, 24]);
  const rows = await warehouse.query`
    select distinct status, (select count(*)::int from run_rows) as rows
    from runs where run_key like 'plan %'`;
  expect(rows).toEqual([]);
});

it.each([
  [3_600, [0, 1], undefined],
  [3_601, [0, 1], expect.stringContaining('1h 0m')],
  [3_601, [0], undefined],
  [3_601, [], undefined],
])('a plan of %i seconds, with times at %j', (seconds, hours, warning) =>
  expect(overrunWarning(seconds, times(...hours))).toEqual(warning),
);
