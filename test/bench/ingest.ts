/**
 * Benchmark of ingesting an export, compared with papaparse and COPY alone on the same file and machine.
 *
 * `npm run bench:ingest [-- --rows 100000]`. Uses DATABASE_URL (an empty database), or an embedded PostgreSQL. Each
 * measurement runs in a process of its own, so that its peak memory is separate.
 */
import { createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import type { RunOptions } from '../../src/domain/runs/run-options.ts';
import { hashExport } from '../../src/ingest/reading/export-bytes.ts';
import { stageExport } from '../../src/ingest/staging/stage.ts';
import { openWarehouse } from '../../src/db/database.ts';
import { planRows } from '../../src/runs/planning/plan-rows.ts';
import { copyBare } from './bare-copy.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';
import { hasJob, inOwnProcess, peakMegabytes } from './own-process.ts';

interface Job {
  readonly measure: 'bare' | 'stage' | 'plan';
  readonly file: string;
  readonly databaseUrl: string;
}

interface Measured {
  readonly rows: number;
  readonly seconds: number;
  /** Processor time of this process, without the time of PostgreSQL. */
  readonly processorSeconds: number;
  readonly peakMegabytes: number;
}

const runId = 'bench-ingest';
/** The options that the plan reads: all rows, in the order of the file. */
const planOptions: Pick<RunOptions, 'only' | 'orderBy'> = { only: [], orderBy: null };
const columns = 14;

const header =
  'Record ID,First Name,Last Name,Email,Phone Number,Company Name,Company domain name,Job Title,City,' +
  'Country/Region,LinkedIn URL,Contact owner,Last Modified Date,Notes';
const firstNames =
  'Ada,Bruno,Chiara,Deniz,Emil,Farah,Gustav,Hana,Ines,Jonas,Kaya,Léa,Milan,Noor,Óscar,Petra'.split(',');
const lastNames =
  'Abel,Brandt,Costa,Dahl,Eriksen,Fontana,García,Hofer,Ivanova,Jansen,Kowalski,Lindqvist'.split(',');
const trades = 'Bakery,Foundry,Logistics,Optics,Robotics,Shipping,Textiles,Vineyards'.split(',');
const titles = 'Head of Purchasing,"Director, Operations",Engineer,"Vice President, Sales",Controller'.split(
  /,(?=[A-Z"])/,
);

/** Invented people of about 220 bytes. Every fiftieth row repeats an e-mail, every hundredth row has no identifier. */
function* inventedRows(rows: number): Generator<string> {
  yield `${header}\n`;
  for (let row = 1; row <= rows; row += 1) {
    const first = firstNames[row % 16]!;
    const last = lastNames[(row * 7) % 12]!;
    const company = `${lastNames[(row * 5) % 12]!} ${trades[row % 8]!}`;
    const domain = `${company.toLowerCase().replaceAll(/[^a-z]/g, '')}${row % 5000}.example`;
    const person = row % 50 === 0 ? row - 1 : row;
    const email = row % 100 === 99 ? '' : `person${person}@${domain}`;
    const name = email === '' ? ',' : `${first},${last}`;
    const line =
      `${100_000_000 + row},${name},${email},"+49 30 ${1_000_000 + (row % 8_999_999)}","${company}, Inc.",` +
      `www.${domain},${titles[row % titles.length]!},"Berlin, Mitte",Germany,,` +
      `"Muster, Max",2026-11-0${1 + (row % 9)}T08:15:00Z,"Fair; ""call later"""\n`;
    yield line;
  }
}

const measureBare = ({ file, databaseUrl }: Job): Promise<number> => copyBare(file, databaseUrl, columns);

async function measureStaging({ file, databaseUrl }: Job): Promise<number> {
  const warehouse = openWarehouse(databaseUrl);
  const staged = await stageExport({ pool: warehouse.pool, runId, path: file });
  await warehouse.close();
  return staged!.rows;
}

async function measurePlan({ databaseUrl }: Job): Promise<number> {
  const warehouse = openWarehouse(databaseUrl);
  const month = 30 * 86_400;
  const planned = await planRows(warehouse, runId, {
    freshness: { enrichedSeconds: 3 * month, notFoundSeconds: month },
    fieldGroups: ['profile'],
    service: 'sandbox',
  });
  await warehouse.close();
  return planned.rows;
}

const measurements = { bare: measureBare, stage: measureStaging, plan: measurePlan };

async function runJob(job: Job): Promise<Measured> {
  const begun = performance.now();
  const rows = await measurements[job.measure](job);
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage();
  return { rows, seconds, processorSeconds: (user + system) / 1_000_000, peakMegabytes: peakMegabytes() };
}

const measured = inOwnProcess(import.meta.url, runJob);

async function beginRun(databaseUrl: string, file: string): Promise<void> {
  const sha256 = await hashExport(file);
  await onDatabase(databaseUrl, async (client) => {
    await client.query(
      `insert into enrichment.runs (run_id, run_key, workflow_id, status, file_path, file_name, file_sha256, options)
       values ($1, $1, $1, 'ingesting', $2, 'bench.csv', $3, $4)`,
      [runId, file, sha256, planOptions],
    );
    await client.query('checkpoint').catch(() => undefined); // an ordinary role may not run checkpoint
  });
}

async function onDatabase(databaseUrl: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function main(rows: number): Promise<void> {
  const { databaseUrl, folder, close } = await openBenchDatabase(process.env['DATABASE_URL']);
  try {
    const file = join(folder, 'contacts.csv');
    await pipeline(Readable.from(inventedRows(rows)), createWriteStream(file));
    const megabytes = statSync(file).size / 1_000_000;
    console.log(`${rows} rows of ${columns} columns, ${megabytes.toFixed(0)} MB`);
    const job = { file, databaseUrl };
    const bare = await measured({ ...job, measure: 'bare' });
    report('papaparse → COPY, plain text columns', bare);
    await beginRun(databaseUrl, file);
    const staged = await measured({ ...job, measure: 'stage' });
    report('stageExport: mapped, normalised, keyed', staged);
    report('planRows: outcomes', await measured({ ...job, measure: 'plan' }));
    const ratio = staged.rows / staged.seconds / (bare.rows / bare.seconds);
    console.log(`staging runs at ${(100 * ratio).toFixed(0)} % of bare papaparse → COPY`);
  } finally {
    await close();
  }
}

function report(what: string, { rows, seconds, processorSeconds, ...memory }: Measured): void {
  const rate = Math.round(rows / seconds).toLocaleString('en');
  const each = (processorSeconds / rows) * 1_000_000;
  const peak = memory.peakMegabytes.toFixed(0);
  console.log(
    `${what.padEnd(44)} ${seconds.toFixed(1).padStart(6)} s  ${rate.padStart(9)} rows/s  ` +
      `${each.toFixed(1).padStart(5)} µs of processor time a row  ${peak.padStart(4)} MB peak`,
  );
}

if (!hasJob) {
  await main(Number(benchOptions('rows').rows ?? 1_000_000));
}
