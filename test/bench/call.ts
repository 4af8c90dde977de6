import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { readConfig } from '../../src/config/settings.ts';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { acquireStack, type Stack } from '../../src/dev/stack.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { countActions } from '../helpers/temporal/temporal-actions.ts';
import { benchOptions } from './command-line.ts';
import { quantile } from './quantile.ts';
import { countStatements, postgresMilliseconds, processMilliseconds } from './processor-time.ts';

/**
 * Benchmark of the whole path of a call: `enrich run` with its database, Temporal server and sandbox on this
 * machine, compared with fetch + JSON.parse + one transaction per call in the same run.
 *
 * - `npm run bench:call`: 6 KB and 60 KB per person, then phones
 * - `npm run bench:call -- --people 1000`: fewer people
 * - `npm run bench:call -- --only 6 --rounds 1`: only 6 KB per person, once instead of five times
 *
 * With `DATABASE_URL` of a server that loads `pg_stat_statements`, the benchmark counts the statements of a call.
 */
const main = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const options = benchOptions('people', 'only', 'rounds');
const people = Number(options.people ?? 4_000);
const only = options.only;
const rounds = Number(options.rounds ?? 5);
const concurrency = 8;
const directory = mkdtempSync(join(tmpdir(), 'enrich-bench-'));

interface Sandbox {
  readonly root: string;
  readonly process: ChildProcess;
}

async function startSandbox(personBytes: number, more: readonly string[] = []): Promise<Sandbox> {
  const flags = [
    '--port=0',
    '--rate-limits=unlimited',
    '--latency=0',
    `--person-bytes=${personBytes}`,
    ...more,
  ];
  const child = spawn(process.execPath, [main, 'sandbox', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const root = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      const found = /(http:\/\/127\.0\.0\.1:\d+)\/api\/v1/.exec(String(text))?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('close', () => reject(new Error('the sandbox did not start')));
  });
  return { root, process: child };
}

async function writeSample(seed: number): Promise<string> {
  const file = join(directory, `contacts-${seed}.csv`);
  await pipeline(Readable.from(sampleExport({ people, seed })), createWriteStream(file));
  return file;
}

/** The baseline: concurrent loops of fetch + JSON.parse + one transaction per call. */
async function bareLoop(sandbox: Sandbox, databaseUrl: string, calls: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: concurrency });
  pool.on('error', () => {});
  await pool.query('create table if not exists bare_answers (body bytea, people integer)');
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let call = next++; call < calls; call = next++) {
        const details = Array.from({ length: 10 }, (_, index) => ({
          first_name: 'Ada',
          last_name: `Novak${call}-${index}`,
          organization_name: `Orbit ${call}`,
        }));
        const answer = await fetch(`${sandbox.root}/api/v1/people/bulk_match`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': 'sandbox-key' },
          body: JSON.stringify({ details }),
        });
        const body = Buffer.from(await answer.arrayBuffer());
        const { matches } = JSON.parse(body.toString('utf8')) as { matches: unknown[] };
        const client = await pool.connect();
        await client.query('begin');
        await client.query('insert into bare_answers values ($1, $2)', [body, matches.length]);
        await client.query('commit');
        client.release();
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  await pool.query('drop table bare_answers');
  await pool.end();
  return calls / seconds;
}

interface Measured {
  readonly facts: RunFacts;
  readonly callsPerSecond: number;
  /** Processor time of the worker per call, between the first and the last call. */
  readonly workerMilliseconds: number;
  readonly postgresMilliseconds: number;
  /** SQL statements of the whole run per call; undefined if they were not counted. */
  readonly statements: number | undefined;
}

interface Sample {
  readonly at: number;
  readonly worker: number;
  readonly postgres: number;
}

async function wholePath(
  sandbox: Sandbox,
  file: string,
  environment: Record<string, string>,
  more: readonly string[] = [],
): Promise<Measured> {
  const before = (await bill(sandbox)).calls;
  const statementsBefore = await countStatements(pool);
  const child = spawn(process.execPath, [main, 'run', file, '--yes', '--json', ...more], {
    env: {
      ...(process.env as Record<string, string>),
      ...environment,
      ENRICHMENT_BASE_URL: `${sandbox.root}/api/v1`,
      ENRICHMENT_API_KEY: 'sandbox-key',
      RATE_LIMITS: 'unlimited',
      CALL_CONCURRENCY: String(concurrency),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  child.stdout.on('data', (text) => (stdout += String(text)));
  const samples: Sample[] = [];
  const sample = async (): Promise<void> => {
    const postgres = await postgresMilliseconds(pool);
    if (child.exitCode === null)
      samples.push({ at: Date.now(), worker: processMilliseconds(child.pid!), postgres });
  };
  const sampling = setInterval(() => void sample(), 100);
  await new Promise((resolve) => child.on('close', resolve));
  clearInterval(sampling);
  const statements = await countStatements(pool);
  const log = (await (await fetch(`${sandbox.root}/sandbox/log?since=${before}`)).json()) as { at: number }[];
  const seconds = (log.at(-1)!.at - log[0]!.at) / 1_000;
  const during = samples.filter(({ at }) => at >= log[0]!.at && at <= log.at(-1)!.at);
  const [first, last] = [during[0]!, during.at(-1)!];
  const sampled = log.filter(({ at }) => at >= first.at && at <= last.at).length;
  return {
    workerMilliseconds: (last.worker - first.worker) / sampled,
    postgresMilliseconds: (last.postgres - first.postgres) / sampled,
    statements: statements === undefined ? undefined : (statements - (statementsBefore ?? 0)) / log.length,
    facts: JSON.parse(stdout.trim().split('\n').at(-1)!) as RunFacts,
    callsPerSecond: (log.length - 1) / seconds,
  };
}

async function bill(sandbox: Sandbox): Promise<{ calls: number }> {
  return (await fetch(`${sandbox.root}/sandbox/bill`)).json() as Promise<{ calls: number }>;
}

async function actions(stack: Stack, runId: string): Promise<number> {
  const connection = await Connection.connect({ address: stack.temporal.address });
  const count = await countActions(new Client({ connection, namespace: stack.temporal.namespace }), runId);
  await connection.close();
  return count;
}

const environment = { ENRICH_DATA_DIR: join(directory, 'state') };
// The service must be set as in the runs: without a service, the servers would belong to the product's own sandbox.
const service = { ENRICHMENT_BASE_URL: 'http://127.0.0.1:9/api/v1', ENRICHMENT_API_KEY: 'sandbox-key' };
const stack = await acquireStack(
  readConfig({ ...process.env, ...environment, ...service }),
  { postgres: true, temporal: true },
  () => {},
);
const pool = new pg.Pool({ connectionString: stack.databaseUrl });
// The end of the server ends idle connections with an error, which is expected.
pool.on('error', () => {});
try {
  console.log(`${cpus().length} processors, ${people} people a run, ${concurrency} calls in flight\n`);
  for (const [index, personBytes] of [6_000, 60_000].entries()) {
    if (only !== undefined && Number(only) * 1_000 !== personBytes) continue;
    const sandbox = await startSandbox(personBytes);
    await bareLoop(sandbox, stack.databaseUrl, 50);
    const shares: number[] = [];
    for (let round = 1; round <= rounds; round += 1)
      shares.push(await compareOnce(sandbox, personBytes, 10 * index + round));
    console.log(
      `${personBytes / 1_000} KB per person: median ${quantile(shares).toFixed(0)} % of ${rounds} rounds\n`,
    );
    sandbox.process.kill();
  }
  if (only === undefined) await latePhones();
} finally {
  await pool.end();
  await stack.release();
  rmSync(directory, { recursive: true, force: true });
}

/** One round: the bare loop, then a run of people whom the warehouse does not know. @returns the share in percent */
async function compareOnce(sandbox: Sandbox, personBytes: number, seed: number): Promise<number> {
  const bare = await bareLoop(sandbox, stack.databaseUrl, Math.ceil(people / 10));
  const whole = await wholePath(sandbox, await writeSample(seed), environment, [
    // Each round has contacts of its own, although all samples have the same ids.
    '--source',
    `round-${seed}`,
  ]);
  const share = (100 * whole.callsPerSecond) / bare;
  console.log(
    `${personBytes / 1_000} KB per person: whole path ${whole.callsPerSecond.toFixed(1)} calls/s ` +
      `(${Math.round(whole.callsPerSecond * 60)} a minute), ` +
      `${share.toFixed(0)} % of the bare loop's ${bare.toFixed(1)} calls/s`,
  );
  console.log(
    `  processor time a call: worker ${whole.workerMilliseconds.toFixed(1)} ms, ` +
      `PostgreSQL ${whole.postgresMilliseconds.toFixed(1)} ms; ` +
      `statements a call: ${whole.statements?.toFixed(1) ?? 'not counted'}`,
  );
  const count = await actions(stack, whole.facts.run_id);
  const asked = whole.facts.calls * 10;
  console.log(
    `  Temporal actions: ${count} for about ${asked} people, ` +
      `${((1_000 * count) / asked).toFixed(0)} per 1,000 people`,
  );
  return share;
}

/** Measures a run with phones that arrive late. */
async function latePhones(): Promise<void> {
  // Phones arrive within a minute while the run makes calls at full speed. This shows the Temporal actions of late
  // results.
  const late = await startSandbox(6_000, ['--late-delay=60000']);
  const phones = await wholePath(late, await writeSample(30), environment, ['--reveal', 'phone']);
  const lateCount = await actions(stack, phones.facts.run_id);
  const lateAsked = phones.facts.calls * 10;
  console.log(
    `with phones: ${phones.facts.late_results.arrived} deliveries; ` +
      `Temporal actions: ${lateCount} for about ${lateAsked} people, ` +
      `${((1_000 * lateCount) / lateAsked).toFixed(0)} per 1,000`,
  );
  late.process.kill();
  await sleep(100);
}
