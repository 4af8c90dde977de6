/**
 * Benchmark of admission: calls admitted per second by one process whose window holds 600 to 1,000,000 calls, compared
 * with a bare INSERT and its commit.
 *
 * `npm run bench:admission [-- --seconds 3 --clients 16]`. Both take turns, on an embedded PostgreSQL that flushes to
 * disk. Each client requests the next admission as soon as its call is admitted, and calls last a second.
 */
import { randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import type { RateLimit } from '../../src/domain/rates/rate-limit.ts';
import { creditsFromWhole } from '../../src/domain/money/decimal.ts';
import { createAdmission, type Admission } from '../../src/ledger/admit.ts';
import { bulkMatchScope } from '../../src/ledger/rate-windows.ts';
import { openWarehouse, type Warehouse } from '../../src/db/database.ts';
import { runningRun } from '../helpers/warehouse/rows.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';
import { postgresMilliseconds, processMilliseconds } from './processor-time.ts';
import { quantile } from './quantile.ts';
import { testWarehouse } from '../helpers/database/test-warehouse.ts';

const options = benchOptions('clients', 'seconds');
const clients = Number(options.clients ?? 16);
const seconds = Number(options.seconds ?? 3);
/** Calls in the rate window: 600, an hour of the largest plan (1,000 calls a minute), and about a day of this plan. */
const windows = [600, 60_000, 1_000_000];
const rounds = 3;
/** A rate window that is never full. */
const hour: RateLimit = { calls: 10_000_000, seconds: 3_600 };
const peoplePerCall = 10;
/** An upper bound: two cores have reached 3,000 calls a second. */
const maxCallsPerSecond = 5_000;

interface Measured {
  readonly perSecond: number;
  /** Milliseconds from the request for an admission to its answer, one for each call. */
  readonly milliseconds: readonly number[];
  /** Processor time of this process and of PostgreSQL, in milliseconds per call. */
  readonly processor: readonly [number, number];
}

const database = await openBenchDatabase();
const warehouse = testWarehouse(openWarehouse(database.databaseUrl, { connections: clients }));
let runId = '';
let rows = 0;
let position = 0;
try {
  await warehouse.pool.query(
    'create table bare_admissions (call_id bigint primary key, at timestamptz not null)',
  );
  runId = await runningRun(warehouse, null, 4_000);
  await addRows((seconds * rounds + 1) * windows.length * maxCallsPerSecond * peoplePerCall);
  console.log(`${cpus().length} processors; ${clients} clients of one process`);
  const bare: Measured[] = [];
  const admissions = new Map<number, Measured[]>(windows.map((window) => [window, []]));
  const admit = createAdmission(warehouse.database, limitsOf([hour]));
  await measure(1, insertBare);
  for (const [window, measured] of admissions) {
    await fillWindow(warehouse, window);
    await measure(1, () => askOnce(admit));
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await measure(seconds, insertBare));
      measured.push(await measure(seconds, () => askOnce(admit)));
    }
  }
  console.log(lineOf('bare insert and commit', bare));
  for (const [window, measured] of admissions)
    console.log(lineOf(`admission, window of ${window}`, measured));
} finally {
  await warehouse.close();
  await database.close();
}

async function measure(forSeconds: number, work: () => Promise<void>): Promise<Measured> {
  const milliseconds: number[] = [];
  const [process0, postgres0] = [
    processMilliseconds(process.pid),
    await postgresMilliseconds(warehouse.pool),
  ];
  const started = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() - started < forSeconds * 1_000) {
        const asked = performance.now();
        await work();
        milliseconds.push(performance.now() - asked);
      }
    }),
  );
  const elapsed = (performance.now() - started) / 1_000;
  const used = [
    processMilliseconds(process.pid) - process0,
    (await postgresMilliseconds(warehouse.pool)) - postgres0,
  ];
  const calls = milliseconds.length;
  return { perSecond: calls / elapsed, milliseconds, processor: [used[0]! / calls, used[1]! / calls] };
}

async function insertBare(): Promise<void> {
  position += 1;
  await warehouse.pool.query({
    name: 'bare',
    text: 'insert into bare_admissions values ($1, clock_timestamp())',
    values: [position],
  });
}

async function askOnce(admit: ReturnType<typeof createAdmission>): Promise<void> {
  const admission = await ask(admit);
  if (admission.kind !== 'admitted') throw new Error(JSON.stringify(admission));
}

function ask(admit: ReturnType<typeof createAdmission>): Promise<Admission> {
  const first = rows + 1;
  rows += peoplePerCall;
  return admit({
    attemptId: randomUUID(),
    runId,
    batch: rows / peoplePerCall,
    priority: 'ad-hoc',
    rowNumbers: Array.from({ length: peoplePerCall }, (_, index) => first + index),
    creditsPerPerson: creditsFromWhole(1),
    deadlineSeconds: 1,
    lateResults: false,
  });
}

/** Fills the hour's window with this many ended calls, numbered as admissions number calls. */
async function fillWindow({ pool }: Warehouse, calls: number): Promise<void> {
  await pool.query('truncate enrichment.rate_calls');
  await pool.query(
    `insert into enrichment.rate_calls (call_id, scope, counted_until, end_number)
     select 'filled-' || n, $1, clock_timestamp() - interval '30 minutes' * (1 - n::float8 / $2), n
     from generate_series(1, $2::integer) as n`,
    [bulkMatchScope, calls],
  );
  await pool.query('vacuum analyze enrichment.rate_calls');
}

function limitsOf(rateLimits: readonly RateLimit[]): Parameters<typeof createAdmission>[1] {
  return { service: 'test', rateLimits, budgets: {} };
}

async function addRows(count: number): Promise<void> {
  await warehouse.pool.query(
    `insert into enrichment.run_rows (run_id, row_number, contact_id, raw, keys)
     select $1, n, 'contact-' || n, '[]', '{}' from generate_series(4001, $2) n`,
    [runId, count],
  );
  await warehouse.pool.query('vacuum analyze enrichment.run_rows');
}

function lineOf(name: string, measured: readonly Measured[]): string {
  const times = measured.flatMap(({ milliseconds }) => milliseconds);
  const rates = measured.map(({ perSecond }) => perSecond);
  const [own, postgres] = [0, 1].map((index) => quantile(measured.map(({ processor }) => processor[index]!)));
  return (
    `${name.padEnd(32)} ${quantile(rates).toFixed(0).padStart(6)}/s (${Math.min(...rates).toFixed(0)} to ` +
    `${Math.max(...rates).toFixed(0)}), p50 ${quantile(times).toFixed(1)} ms, ` +
    `p99 ${quantile(times, 0.99).toFixed(1)} ms; ` +
    `processor time ${own!.toFixed(2)} + ${postgres!.toFixed(2)} ms`
  );
}
