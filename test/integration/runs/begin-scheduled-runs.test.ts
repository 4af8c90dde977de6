import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Outcome } from '../../../src/domain/runs/outcome.ts';
import type {
  RunInput,
  ExportChoice,
  RefusedExport,
  ScheduledRunInput,
} from '../../../src/contract/run-input.ts';
import { ingestRun } from '../../../src/runs/ingest-run.ts';
import { beginScheduledRuns, type ScheduleDependencies } from '../../../src/runs/begin-scheduled-runs.ts';
import type { ExportAccess } from '../../../src/ingest/sources/obtain-export.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { S3Store } from '../../helpers/servers/s3-store.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { stagedRun, unsetOptions, noSignal } from '../../helpers/warehouse/rows.ts';

const night = '2026-11-20T23:30:00.000Z';
const warehouse = await warehouseOfFile({ connections: 2 });
let folder: string;
let exportAccess: ExportAccess;
/** The exports that the last call of begin() refused. */
let refused: readonly RefusedExport[];

beforeEach(() => {
  folder = temporaryFolder(onTestFinished);
  exportAccess = {
    stagingDirectory: join(folder, '.staging'),
    s3: { endpoint: undefined },
    pool: warehouse.pool,
  };
});

/** Writes a file that is an hour newer than the file before. */
let age = 0;
function write(name: string, content = `${folder} ${name}`): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  age += 3_600;
  utimesSync(path, age, age);
  return path;
}

function isFile({ kind, from }: ExportChoice): boolean {
  return kind !== 'query' && !from.includes('://');
}

async function begin(
  choice: ExportChoice,
  changes: Partial<ScheduledRunInput> = {},
  settings: Partial<ScheduleDependencies> = {},
): Promise<readonly RunInput[]> {
  const dependencies: ScheduleDependencies = {
    warehouse,
    exportAccess,
    callConcurrency: 4,
    pollAfterSeconds: 900,
    defaults: {
      service: 'sandbox',
      serviceOf: 'command',
      maxCredits: null,
      freshness: { enrichedSeconds: 86_400, notFoundSeconds: 86_400 },
      lateDeadlineSeconds: 3_600,
    },
    hasPeriodBudget: false,
    ...settings,
  };
  const input = {
    ...unsetOptions,
    schedule: 'nightly',
    export: isFile(choice) ? { ...choice, from: join(folder, choice.from) } : choice,
    timezone: 'Europe/Berlin',
    maxCredits: '500',
    noBudget: false,
    searchable: false,
    asOf: night,
    ...changes,
  };
  const begun = await beginScheduledRuns(dependencies, input, noSignal);
  refused = begun.refused;
  return begun.runs;
}

async function finish(runs: readonly RunInput[]): Promise<void> {
  for (const { runId } of runs) {
    await warehouse.query`
      update enrichment.run_rows set outcome = 'enriched' where run_id = ${runId} and outcome is null`;
    await endRun(warehouse, runId, 'finished', undefined);
  }
}

it('an unreadable file of a schedule is refused each time until it changes; other files run', async () => {
  const names = async (): Promise<string[]> => {
    const runs = await begin({ kind: 'every-new', from: '*.csv' });
    await finish(runs);
    return [...runs, ...refused].map(({ file }) => file);
  };
  write('good.csv', 'id,email\n1,ada@orbit.example\n');
  write('empty.csv', '');
  write('later.csv', 'id,email\n2,ben@orbit.example\n');
  expect(await names()).toEqual(['good.csv', 'later.csv', 'empty.csv']);
  expect(refused).toMatchObject([{ reason: expect.stringContaining('the file is empty') }]);
  expect(await names()).toEqual(['empty.csv']);
  write('empty.csv', 'id,email\n3,cy@orbit.example\n');
  expect([await names(), refused]).toEqual([['empty.csv'], []]);
});

it('a schedule neither uses nor approves a manual run of the same file that waits for approval', async () => {
  write('contacts-2026-11-21.csv');
  const choice = { kind: 'file', from: 'contacts-{date}.csv' } as const;
  const [scheduled] = await begin(choice);
  const { options, ...file } = await getRun(warehouse, scheduled!.runId);
  const byCommand = { ...options, schedule: null, priority: 'ad-hoc' } as const;
  const { run } = await findOrBeginRun(warehouse, { ...file, source: 'generic', options: byCommand });
  expect(await begin(choice)).toMatchObject([{ runId: scheduled!.runId }]);
  expect(await getRun(warehouse, run.runId)).toMatchObject({ status: 'ingesting', isApproved: false });
});

it("scheduled runs have their scheduled time, priority, budget and the worker's settings", async () => {
  write('contacts-2026-11-21.csv');
  const [run] = await begin({ kind: 'file', from: 'contacts-{date}.csv' }, { reveal: ['phone'] });
  expect(run).toMatchObject({
    file: 'contacts-2026-11-21.csv',
    maxCredits: '500',
    lateResults: { pollAfterSeconds: 900 },
  });
  const rows = await warehouse.query`
    select as_of, options, approved_at is not null as approved from enrichment.runs where run_id = ${run!.runId}`;
  expect(rows[0]).toMatchObject({
    as_of: new Date(night),
    approved: true,
    options: { priority: 'nightly', maxCredits: '500', lateDeadlineSeconds: 3_600, service: 'sandbox' },
  });
});

it('a scheduled run of unrecognised columns fails with the advice to add a mapping to the schedule', async () => {
  write('unknown.csv', 'Nr,Kontakt\n1,ada@orbit.example\n');
  const [run] = await begin({ kind: 'file', from: 'unknown.csv' });
  const options = { signal: noSignal, onProgress: () => {} };
  expect(await ingestRun({ warehouse, exportAccess }, run!.runId, options)).toMatchObject({
    kind: 'refused',
    pauseReason: {
      type: 'export.no-identifying-column',
      next: expect.stringContaining('enrich schedule set nightly … --mapping FILE'),
    },
  });
});

it('scheduled runs are refused without a budget of the schedule or the worker', async () => {
  write('a.csv');
  const choice: ExportChoice = { kind: 'file', from: 'a.csv' };
  await expect(begin(choice, { maxCredits: null })).rejects.toMatchObject({ type: 'credits.no-ceiling' });
  await expect(begin(choice, { maxCredits: null, noBudget: true })).resolves.toHaveLength(1);
  await expect(begin(choice, { maxCredits: null }, { hasPeriodBudget: true })).resolves.toHaveLength(1);
});

it('a schedule fails if its named or newest file is missing; if every new file is missing, no run begins', async () => {
  const missing = { type: 'export.missing' };
  await expect(begin({ kind: 'file', from: 'a.csv' })).rejects.toMatchObject(missing);
  await expect(begin({ kind: 'newest', from: '*.csv' })).rejects.toMatchObject(missing);
  expect(await begin({ kind: 'every-new', from: '*.csv' })).toEqual([]);
});

const everyNew: ExportChoice = { kind: 'every-new', from: '*.csv' };

/** Gives the run a row. @param claimedBy the run whose first row represents the person */
async function leave({ runId }: RunInput, outcome: Outcome, claimedBy?: string): Promise<void> {
  await warehouse.query`
    insert into enrichment.run_rows (run_id, row_number, contact_id, raw, keys, outcome, claimed_by_run_id,
      claimed_by_row_number)
    values (${runId}, 1, 'c1', '[]', array['email:ada@orbit.example'], ${outcome}, ${claimedBy}, 1)`;
}

it('each new file of a schedule runs once, oldest first; a copy under another name is not new', async () => {
  write('b.csv', `${folder} monday`);
  write('a.csv', `${folder} tuesday`);
  write('copy.csv', `${folder} monday`);
  const first = await begin(everyNew);
  expect(first.map((run) => run.file)).toEqual(['b.csv', 'a.csv']);
  await finish(first);
  expect(await begin(everyNew)).toEqual([]);
  write('c.csv');
  expect((await begin(everyNew)).map((run) => run.file)).toEqual(['c.csv']);
});

it('a schedule runs a file again when another run releases the claims of its in_flight people', async () => {
  write('shared.csv');
  const [run] = await begin(everyNew);
  const other = (await stagedRun(warehouse, [])).runId;
  // A claim can have the id of the person, which an answer has named, and not a key of the row.
  for (const row of [1, 2])
    await warehouse.query`
      insert into claims (identity_key, service, run_id, row_number)
      values (${`person:${row}`}, 'sandbox', ${other}, ${row})`;
  await leave(run!, 'in_flight', other);
  await finish([run!]);
  expect(await begin(everyNew)).toEqual([]);
  // The claim of another person stays.
  await warehouse.query`delete from enrichment_internal.claims where run_id = ${other} and row_number = 1`;
  expect(await begin(everyNew)).toMatchObject([{ file: 'shared.csv' }]);
});

describe('a schedule with a remote export or SQL', () => {
  let store: S3Store;

  beforeEach(async () => {
    store = await S3Store.open();
    exportAccess = { ...exportAccess, s3: { endpoint: store.endpoint } };
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: 'eu-central-1',
    });
    return () => store.close();
  });

  const csv = (person: string): string => `id,email\n1,${person}@${folder.split('-').at(-1)}.example\n`;
  const statusOf = async (runId: string) => {
    const rows = await warehouse.query`
      select file_path, file_name, rows_staged, ingested_at is not null as ingested
      from runs where run_id = ${runId}`;
    return rows[0] as unknown;
  };

  it('a schedule stages a downloaded export and removes the download', async () => {
    store.put('crm/out/2026-11-21.csv', csv('ada'));
    const [run] = await begin({ kind: 'file', from: 's3://crm/out/{date}.csv' });
    expect(await statusOf(run!.runId)).toEqual({
      file_path: 's3://crm/out/2026-11-21.csv',
      file_name: '2026-11-21.csv',
      rows_staged: 1,
      ingested: true,
    });
    expect(readdirSync(exportAccess.stagingDirectory)).toEqual([]);
  });

  it('a schedule refuses an export that cannot be downloaded, and runs the other exports of the folder', async () => {
    store.put('crm/out/a.csv', csv('ada'));
    store.put('crm/out/b.csv', csv('ben'));
    store.redirects.set('/crm/out/a.csv', '/elsewhere');
    expect(await begin({ kind: 'every-new', from: 's3://crm/out/*.csv' })).toMatchObject([{ file: 'b.csv' }]);
    expect(refused).toMatchObject([{ file: 'a.csv' }]);
  });

  it('a schedule downloads an already enriched S3 object again only after the object changed', async () => {
    const choice: ExportChoice = { kind: 'every-new', from: 's3://crm/out/*.csv' };
    const fetched = (): number => store.requests.filter(({ path }) => path.includes('a.csv')).length;
    store.put('crm/out/a.csv', csv('cy'), new Date(night));
    await finish(await begin(choice));
    expect([await begin(choice), fetched()]).toEqual([[], 1]);
    store.put('crm/out/a.csv', csv('dee'), new Date(Date.parse(night) + 1_000));
    expect([await begin(choice), fetched()]).toMatchObject([[{ file: 'a.csv' }], 2]);
  });

  it('a schedule can read its export from the warehouse by SQL', async () => {
    await warehouse.query`
      create table if not exists public.leads (id int, email text, day date);
      truncate public.leads;
      insert into public.leads values (1, 'ada@leads.example', '2026-11-21'), (2, 'ben@leads.example', '2026-11-20')`;
    const [query] = await begin({ kind: 'query', from: `select * from leads where day = '{date}'` });
    expect(await statusOf(query!.runId)).toMatchObject({ file_name: 'query', rows_staged: 1 });
  });
});
