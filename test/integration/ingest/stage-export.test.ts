import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { hashExport } from '../../../src/ingest/reading/export-bytes.ts';
import { stageExport, type StagedExport, type StagingOptions } from '../../../src/ingest/staging/stage.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

const file = exportFiles();
let runs = 0;

const warehouse = await warehouseOfFile();

async function beginRun(path: string): Promise<string> {
  const runId = `run-${(runs += 1)}`;
  const { sha256 } = await hashExport(path);
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

async function rowsOf(runId: string): Promise<Row[]> {
  const found = await warehouse.query<Row>`
    select * from run_rows where run_id = ${runId} order by row_number`;
  return found;
}

async function stage(
  content: string | Uint8Array,
  options: Partial<StagingOptions> = {},
): Promise<{ staged: StagedExport; rows: Row[]; runId: string }> {
  const path = file(content);
  const runId = await beginRun(path);
  const staged = await stageExport({ pool: warehouse.pool, runId, path, ...options });
  return { staged, rows: await rowsOf(runId), runId };
}

/** Long enough for several chunks. */
function manyRows(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, index) => `${index + 1},p${index + 1}@orbit.example,${'x'.repeat(2_000)}`,
  );
  return `id,email,notes\n${lines.join('\n')}\n`;
}

describe('an answer about opting out', () => {
  const lines = (answers: string[]): string =>
    answers.map((answer, row) => `p${row}@orbit.example,${answer}\n`).join('');

  it('an answer that is not understood counts as opted out, and the warning has the number of rows', async () => {
    const { staged, rows } = await stage(
      `email,Zgoda marketingowa,Nie dzwonić\n${lines(['tak,', 'nie,', 'w toku,może', ',', 'w toku,'])}`,
    );
    expect(rows.map(({ opted_out }) => opted_out)).toEqual([false, true, true, false, true]);
    expect(rows.map(({ opted_out_of_calls }) => opted_out_of_calls)).toEqual([
      false,
      false,
      true,
      false,
      false,
    ]);
    expect(staged.warnings).toEqual([
      expect.stringMatching(
        /^column "Zgoda marketingowa" excludes 3 of 5 rows .*2 answers are not understood; .*"column": 2/,
      ),
      expect.stringMatching(
        /^column "Nie dzwonić" excludes 1 of 5 rows from phone numbers; .*"opted_out_of_calls".*"column": 3/,
      ),
    ]);
  });
});

it('a row keeps its cells unchanged beside their meaning', async () => {
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

it('a row without an id in the CRM has an id that the next export has too', async () => {
  const first = await stage('email,name\nADA@orbit.example,Ada\nben@orbit.example,Ben\n');
  const second = await stage('name,email\nBen,ben@orbit.example\nAda,ada@orbit.example\n');
  expect(first.rows.map((row) => row.contact_id)).toEqual(second.rows.map((row) => row.contact_id).reverse());
  expect(first.rows[0]!.contact_id).toMatch(/^key:[0-9a-f]{32}$/);
});

it('a row has one id for 15 and 18 characters of a Salesforce id', async () => {
  const header = 'Contact ID,First Name,Last Name,Account Name,Email';
  const short = await stage(`${header}\n003A0000006Vm9r,Ada,Novak,Orbit,a@x.example\n`);
  const long = await stage(`${header}\n003A0000006Vm9rIAC,Ada,Novak,Orbit,a@x.example\n`);
  expect(short.rows[0]!.contact_id).toBe('003A0000006Vm9rIAC');
  expect(long.rows[0]!.contact_id).toBe('003A0000006Vm9rIAC');
});

it('a row may hold any characters', async () => {
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
    { numRuns: 5 },
  );
});

/** UTF-8 cannot hold them, so no file does. */
function withoutLoneSurrogates(text: string): string {
  return Buffer.from(text).toString();
}

describe('every record has one row, and an outcome where it can go no further', () => {
  it('rows are counted by record, not by line', async () => {
    const { staged, rows } = await stage(
      'Title of the report\n\nid,email,name,company\n1,a@x.example,,\n\n  ' +
        '\n"2","b@x.example","two\nlines",\n,,,\n4,,Ada Novak,Orbit\n5,,Ada Novak,\n\n',
    );
    expect(staged).toMatchObject({ rows: 5, malformed: 0 });
    expect(rows.map((row) => [row.row_number, row.contact_id, row.outcome])).toEqual([
      [1, '1', null],
      [2, '2', null],
      [3, 'row:3', 'no_identifier'],
      [4, '4', null],
      [5, '5', 'no_identifier'],
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

  it('rows that lack their last cells are proposed to be filled, and are then staged with empty cells', async () => {
    const content = 'id,email,phone\n1,a@x.example\n2,b@x.example,\n3,c@x.example\n';
    const { staged } = await stage(content);
    expect(staged.malformed).toBe(2);
    expect(staged.warnings.at(-1)).toBe(
      '2 rows have too few cells; if only empty cells at the end are missing, read the file with --short-rows fill',
    );
    const filled = await stage(content, { mapping: { short_rows: 'fill' } });
    expect(filled.staged).toMatchObject({ malformed: 0, warnings: [] });
    expect(filled.rows.map(({ raw }) => raw)).toContain('["3","c@x.example",""]');
  });

  it('a file with a quote that never closes is refused before a row is staged', async () => {
    const path = file(`${manyRows(4_000)}4001,"late@orbit.example,\n`);
    const runId = await beginRun(path);
    await expect(stageExport({ pool: warehouse.pool, runId, path })).rejects.toMatchObject({
      type: 'export.unclosed-quote',
      where: `${path}, line 4002`,
    });
    expect(await rowsOf(runId)).toEqual([]);
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

  it('a file with only a header has no rows', async () => {
    const { staged, runId } = await stage('id,email\n');
    expect(staged.rows).toBe(0);
    expect(await runOf(runId)).toMatchObject({ rows_staged: 0, header: ['id', 'email'], source: 'generic' });
  });
});

async function runOf(runId: string): Promise<Record<string, unknown>> {
  const found = await warehouse.query<Record<string, unknown>>`select * from runs where run_id = ${runId}`;
  return found[0]!;
}

describe('staging that is interrupted', () => {
  const count = 4_000;

  it('interrupted staging continues and stages no row twice', async () => {
    const path = file(manyRows(count));
    const runId = await beginRun(path);
    const options = { pool: warehouse.pool, runId, path };
    const interrupted = stageExport({
      ...options,
      onProgress: () => {
        throw new Error('interrupted');
      },
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    const before = await runOf(runId);
    expect(before['rows_staged']).toBeGreaterThan(0);
    expect(before['rows_staged']).toBeLessThan(count);
    expect(before['ingested_at']).toBeNull();

    const staged = await stageExport(options);
    expect(staged.rows).toBe(count);
    const rows = await rowsOf(runId);
    expect(rows.map((row) => row.contact_id)).toEqual(
      Array.from({ length: count }, (_, index) => `${index + 1}`),
    );
    expect(await runOf(runId)).toMatchObject({ rows_staged: count, ingested_at: expect.any(Date) });
  });

  it('staging ends at a signal', async () => {
    const path = file(manyRows(count));
    const runId = await beginRun(path);
    const stop = new AbortController();
    const staging = stageExport({
      pool: warehouse.pool,
      runId,
      path,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(staging).rejects.toThrow(/abort/i);
    expect((await runOf(runId))['ingested_at']).toBeNull();
  });

  it('interrupted staging is not disturbed by a second process for the same run', async () => {
    const path = file(manyRows(count));
    const runId = await beginRun(path);
    const options = { pool: warehouse.pool, runId, path };
    const both = await Promise.all([stageExport(options), stageExport(options)]);
    expect(both.map((staged) => staged.rows)).toEqual([count, count]);
    expect((await rowsOf(runId)).map((row) => row.row_number)).toEqual(
      Array.from({ length: count }, (_, index) => index + 1),
    );
  });
});

it('a file that changes before staging is refused, and no row is staged', async () => {
  const path = file('id,email\n1,a@x.example\n');
  const runId = await beginRun(path);
  appendFileSync(path, '2,b@x.example\n');
  await expect(stageExport({ pool: warehouse.pool, runId, path })).rejects.toMatchObject({
    type: 'export.changed',
    // The run fails, so that no cancel is possible or needed.
    next: 'repeat the command when no program writes to the file; nothing was paid',
  });
  expect(await rowsOf(runId)).toEqual([]);
});

it('a file that changes during staging is refused, and the run is not completely staged', async () => {
  const path = file(manyRows(4_000));
  const runId = await beginRun(path);
  const staging = stageExport({
    pool: warehouse.pool,
    runId,
    path,
    onProgress: () => appendFileSync(path, '0,late@orbit.example,\n'),
  });
  await expect(staging).rejects.toMatchObject({ type: 'export.changed' });
  expect((await runOf(runId))['ingested_at']).toBeNull();
});

it('an error of the database repeats no cell of the export', async () => {
  const path = file('id,email\n1,secret@orbit.example\n');
  const runId = await beginRun(path);
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, raw, keys) values (${runId}, 1, '1', '[]', '{}')`;
  const failure = await stageExport({ pool: warehouse.pool, runId, path }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(JSON.stringify(failure) + String(failure)).not.toContain('secret');
});

it('an export adds no row to a run that has ended, because its worker can have lost Temporal', async () => {
  const path = file('email\nada@orbit.example\n');
  const runId = await beginRun(path);
  await warehouse.query`update runs set status = 'cancelled' where run_id = ${runId}`;
  await expect(stageExport({ pool: warehouse.pool, runId, path })).rejects.toMatchObject({
    type: 'run.ended',
    message: `run ${runId} has ended: no row of its export was added`,
  });
  expect(await rowsOf(runId)).toEqual([]);
});
