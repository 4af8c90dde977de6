import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, it } from 'vitest';
import { hashExport } from '../../../src/ingest/reading/export-bytes.ts';
import { stageExport, type StagedExport, type StagingOptions } from '../../../src/ingest/staging/stage.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

const file = exportFiles();
let runs = 0;

const warehouse = await warehouseOfFile();

async function beginRun(path: string): Promise<string> {
  const runId = `run-${(runs += 1)}`;
  const sha256 = await hashExport(path);
  await warehouse.query`
    insert into runs (run_id, run_key, workflow_id, status, file_path, file_name, file_sha256, options)
    values (${runId}, ${runId}, ${runId}, 'ingesting', ${path}, 'contacts.csv', ${sha256}, '{}')`;
  return runId;
}

interface Row {
  readonly row_number: number;
  readonly contact_id: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly raw: string;
  readonly email: string | null;
  readonly keys: string[];
  readonly [column: string]: unknown;
}

const rowsOf = (runId: string) =>
  warehouse.query<Row>`select * from run_rows where run_id = ${runId} order by row_number`;

async function stage(
  content: string | Uint8Array,
  options: Partial<StagingOptions> = {},
): Promise<{ staged: StagedExport; rows: Row[]; runId: string }> {
  const path = file(content);
  const runId = await beginRun(path);
  const staged = (await stageExport({ pool: warehouse.pool, runId, path, ...options }))!;
  return { staged, rows: await rowsOf(runId), runId };
}

/** An export that is long enough to be read in several pieces. */
function manyRows(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, index) => `${index + 1},p${index + 1}@orbit.example,${'x'.repeat(2_000)}`,
  );
  return `id,email,notes\n${lines.join('\n')}\n`;
}

it('an opt-out cell with an unknown answer counts as opted out, with a warning', async () => {
  const answers = ['tak,', 'nie,', 'w toku,może', ',', 'w toku,'];
  const lines = answers.map((answer, row) => `p${row}@orbit.example,${answer}`);
  const { staged, rows } = await stage(`email,Zgoda marketingowa,Nie dzwonić\n${lines.join('\n')}\n`);
  expect(rows.map(({ opted_out }) => opted_out)).toEqual([false, true, true, false, true]);
  expect(rows.filter((row) => row['opted_out_of_calls']).map((row) => row.row_number)).toEqual([3]);
  expect(staged.warnings).toEqual([
    expect.stringMatching(/^column "Zgoda marketingowa" excludes 3 of 5 rows .*2 answers are .*"column": 2/),
    expect.stringMatching(
      /^column "Nie dzwonić" excludes 1 of 5 rows from phone numbers; .*"opted_out_of_calls".*"column": 3/,
    ),
  ]);
});

it('a row keeps its original cells beside the values read from them', async () => {
  const { rows } = await stage(
    'Record ID,First Name,Last Name,Email,Work email,Company Name,Website URL,LinkedIn URL,Unsubscribed ' +
      'from all email\n' +
      '00042, Ada ,Novák,ada@gmail.com,Ada.N@Orbit.example;info@orbit.example,"Orbit, ' +
      'Ltd.",https://www.orbit.example/x,' +
      'https://de.linkedin.com/in/Ada-Novak/,true\n',
  );
  expect(rows).toEqual([
    {
      run_id: expect.any(String),
      row_number: 1,
      contact_id: '00042',
      outcome: null,
      reason: 'the export marks this contact as opted out in the column "Unsubscribed from all email"',
      record_row: null,
      is_contested: false,
      filled: false,
      claimed_by_run_id: null,
      claimed_by_row_number: null,
      raw: expect.any(String),
      person_id: null,
      email: 'ada.n@orbit.example',
      other_emails: ['ada@gmail.com', 'info@orbit.example'],
      hashed_email: null,
      profile_url: 'linkedin.com/in/ada-novak',
      first_name: 'Ada',
      last_name: 'Novák',
      name: null,
      organization_name: 'Orbit, Ltd.',
      domain: 'orbit.example',
      opted_out: true,
      opted_out_of_calls: false,
      identity_hash: null,
      keys: [
        'email:ada.n@orbit.example',
        'email:ada@gmail.com',
        'email:info@orbit.example|ada novak',
        'profile:linkedin.com/in/ada-novak',
      ],
    },
  ]);
  expect(JSON.parse(rows[0]!.raw)).toMatchObject({ 0: '00042', 1: ' Ada ' });
});

it('a row without a record id gets the same generated id in each export', async () => {
  const first = await stage('email,name\nADA@orbit.example,Ada\nben@orbit.example,Ben\n');
  const second = await stage('name,email\nBen,ben@orbit.example\nAda,ada@orbit.example\n');
  expect(first.rows.map((row) => row.contact_id)).toEqual(second.rows.map((row) => row.contact_id).reverse());
  expect(first.rows[0]!.contact_id).toMatch(/^key:[0-9a-f]{32}$/);
});

it('cells with arbitrary characters are staged unchanged', async () => {
  const cell = fc.string({ unit: 'binary', maxLength: 12 });
  const anything = fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(anything, async (records) => {
      const written = records.map((record) => [...record.map(withoutLoneSurrogates), 'x@y.example']);
      const text = Papa.unparse([['name', 'company', 'linkedin', 'domain', 'email'], ...written], {
        quotes: true,
      });
      const { rows, staged } = await stage(text, { mapping: { delimiter: ',' } });
      expect(staged.rows).toBe(written.length);
      expect(rows.map((row) => JSON.parse(row.raw) as unknown)).toEqual(written);
    }),
    { numRuns: 3 },
  );
});

/** UTF-8 cannot encode lone surrogates, so no file contains one. */
function withoutLoneSurrogates(text: string): string {
  return Buffer.from(text).toString();
}

it('rows are counted by CSV record, not by line', async () => {
  const { staged, rows } = await stage(
    'Title of the report\n\nid,email,name,company\n1,a@x.example,,\n\n  ' +
      '\n"2","b@x.example","two\nlines",\n,,,\n4,,Ada Novak,Orbit\n5,,Ada Novak,\n6,info@x.example,,X\n\n',
  );
  expect(staged).toMatchObject({ rows: 6, malformed: 0 });
  expect(rows.map((row) => [row.row_number, row.contact_id, row.outcome])).toEqual([
    [1, '1', null],
    [2, '2', null],
    [3, 'row:3', 'no_identifier'],
    [4, '4', null],
    [5, '5', 'no_identifier'],
    [6, '6', 'no_identifier'],
  ]);
});

it('a record that cannot be read is a malformed row with the reason', async () => {
  const { staged, rows } = await stage(
    'id,email,company\n1,a@x.example\n2,b@x.example,Orbit,surplus\n3,c@x.example,Orbit,,\n' +
      'ID,Email,Company\n7,g@x.example,Orbit\n',
  );
  expect(staged.malformed).toBe(4);
  expect(rows.map((row) => [row.outcome, row.reason])).toEqual([
    ['malformed', 'too few cells: 2, and the header has 3'],
    ['malformed', 'too many cells: 4, and the header has 3'],
    ['malformed', 'too many cells: 5, and the header has 3'],
    ['malformed', 'the header once more'],
    [null, null],
  ]);
  expect(rows[0]).toMatchObject({ contact_id: 'row:1', keys: [], email: null });
});

it('an export without a readable row is refused with the reason of the first row', async () => {
  await expect(stage('id,email\n1,a@x.example,surplus\n2,b@x.example,surplus\n')).rejects.toMatchObject({
    type: 'export.no-readable-row',
    message: 'none of 2 rows can be read: row 1 (too many cells: 3, and the header has 2)',
  });
});

it('stageExport() warns of malformed rows, and names the first three with their reasons and no cells', async () => {
  const few = await stage('id,email\n1,a@x.example\ncanary\n3,b@x.example\n');
  expect(few.staged.warnings).toEqual([
    '1 row cannot be read (rows are counted below the header): ' +
      'row 2 (too few cells: 1, and the header has 2)',
    '1 row has too few cells; if only empty cells at the end are missing, read the file with --short-rows fill',
  ]);
  const many = await stage(`id,email\n${'1,a@x.example\n2,b@x.example,canary\n'.repeat(4)}`);
  const reason = '(too many cells: 3, and the header has 2)';
  expect(many.staged.warnings).toEqual([
    '4 rows cannot be read (rows are counted below the header): the first are ' +
      `row 2 ${reason}; row 4 ${reason}; row 6 ${reason}`,
  ]);
});

async function runOf(runId: string): Promise<Record<string, unknown>> {
  const found = await warehouse.query<Record<string, unknown>>`select * from runs where run_id = ${runId}`;
  return found[0]!;
}

/** The options of stageExport() for a new run of the file. */
async function prepared(content: string): Promise<StagingOptions> {
  const path = file(content);
  return { pool: warehouse.pool, runId: await beginRun(path), path };
}

const count = 2_000;
const numbers = Array.from({ length: count }, (_, index) => index + 1);

it('interrupted staging leaves no row, and can be repeated', async () => {
  const options = await prepared(manyRows(count));
  const onProgress = (): void => {
    throw new Error('interrupted');
  };
  await expect(stageExport({ ...options, onProgress })).rejects.toThrow('interrupted');
  expect(await runOf(options.runId)).toMatchObject({ rows_staged: 0, ingested_at: null });
  expect(await rowsOf(options.runId)).toEqual([]);

  expect((await stageExport(options))!.rows).toBe(count);
  const rows = await rowsOf(options.runId);
  expect(rows.map((row) => row.contact_id)).toEqual(numbers.map(String));
  expect(await runOf(options.runId)).toMatchObject({ rows_staged: count, ingested_at: expect.any(Date) });
});

it('stageExport() stops when its abort signal fires, and the run is not marked as ingested', async () => {
  const options = await prepared(manyRows(count));
  const stop = new AbortController();
  const staging = stageExport({ ...options, signal: stop.signal, onProgress: () => stop.abort() });
  await expect(staging).rejects.toThrow(/abort/i);
  expect((await runOf(options.runId))['ingested_at']).toBeNull();
});

it('a second process that stages the same run waits for the first, and stages no row', async () => {
  const options = await prepared(manyRows(count));
  const both = await Promise.all([stageExport(options), stageExport(options)]);
  expect(both.map((staged) => staged?.rows ?? 0).sort()).toEqual([0, count]);
  expect((await rowsOf(options.runId)).map((row) => row.row_number)).toEqual(numbers);
});

it('a file that changes during staging is refused, and the run is not marked as ingested', async () => {
  const options = await prepared(manyRows(count));
  let hasChanged = false;
  const onProgress = (): void => {
    if (!hasChanged) appendFileSync(options.path, '0,late@orbit.example,\n');
    hasChanged = true;
  };
  await expect(stageExport({ ...options, onProgress })).rejects.toMatchObject({ type: 'export.changed' });
  expect((await runOf(options.runId))['ingested_at']).toBeNull();
});

it.each([
  ['a file that changes before staging', 'export.changed', 'ingesting', '2,b@x.example\n'],
  ['a file that ends in a quote that never closes', 'export.unclosed-quote', 'ingesting', '2,"b@x.example\n'],
  ['the export of a run that has ended', 'run.ended', 'cancelled', ''],
])('stageExport() stages no row of %s', async (_, type, status, added) => {
  const options = await prepared('id,email\n1,a@x.example\n');
  appendFileSync(options.path, added);
  await warehouse.query`update runs set status = ${status} where run_id = ${options.runId}`;
  await expect(stageExport(options)).rejects.toMatchObject({ type });
  expect(await rowsOf(options.runId)).toEqual([]);
});

it('a database error during staging contains no cell of the export', async () => {
  const options = await prepared('id,email\n1,secret@orbit.example\n');
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, raw, keys)
    values (${options.runId}, 1, '1', '[]', '{}')`;
  const failure = await stageExport(options).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(JSON.stringify(failure) + String(failure)).not.toContain('secret');
});
