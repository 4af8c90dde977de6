import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract.ts';
import { sampleExport } from '../../src/sandbox/population/sample-export.ts';
import { TestSystem, type Begun } from '../helpers/test-system.ts';
import { expectPromisesKept } from '../helpers/promises.ts';

/**
 * A week of nights in minutes: `npm run soak:week`.
 *
 * Seven exports that overlap and change, by a schedule, beside a backfill of 20,000 people, some of whom are the same.
 * A worker is killed and another one drained, one night still runs when the next one is due, and the backfill's
 * budget runs out and is raised.
 */
const backfillPeople = 20_000;
const firstNight = 600;
const newEachNight = 90;
const overrunningNight = 4;
const limit = { calls: 60, seconds: 2 };
let system: TestSystem;
let exports: string;

beforeAll(async () => {
  system = await TestSystem.open({ latency: 60, rateLimits: `${limit.calls}/${limit.seconds}s` });
  exports = join(system.directory, 'exports');
  mkdirSync(exports);
});

afterAll(() => system.close());

/** People of the nights before, some of them changed, and new ones; in another order each night. */
function writeNight(night: number): void {
  const people = firstNight + night * newEachNight + (night >= overrunningNight ? 2_000 : 0);
  const [header, ...rows] = [...sampleExport({ people, seed: 70 })].join('').trimEnd().split('\r\n');
  const changed = rows.map((row, index) => (index % 7 === night ? row.replace('Norway', 'Iceland') : row));
  if (night % 2 === 1) changed.reverse();
  writeFileSync(join(exports, `hubspot-2026-11-1${night}.csv`), `${[header, ...changed].join('\r\n')}\r\n`);
}

function nightName(night: number): string {
  return `hubspot-2026-11-1${night}.csv`;
}

interface RunLine {
  readonly run_id: string;
  readonly status: string;
  readonly file: string;
}

async function nightlyRuns(): Promise<RunLine[]> {
  const { rows } = await system.warehouse.pool.query<RunLine>(
    `select run_id, status, file_name as file from enrichment.runs where file_name like 'hubspot-%' order by run_id`,
  );
  return rows;
}

async function untilNights(finished: number): Promise<void> {
  await expect
    .poll(async () => (await nightlyRuns()).filter(({ status }) => status === 'finished').length, {
      timeout: 180_000,
      interval: 200,
    })
    .toBe(finished);
}

/** Calls in flight at once, of one worker and of both. */
const concurrency = 4;
const workerCount = 2;

it(
  'no person is paid for twice, no night waits for the backfill, and everything adds up',
  { timeout: 20 * 60_000 },
  async () => {
    const shared = {
      ...system.sharedTemporal(),
      RATE_LIMITS: `${limit.calls}/${limit.seconds}s`,
      CALL_CONCURRENCY: String(concurrency),
    };
    const enrich = async (command: string): Promise<RunFacts> => {
      const ended = await system.enrich(command.split(' '), shared);
      if (ended.code === 1 || ended.code === 2) throw new Error(`${command}: ${ended.stderr}`);
      return ended.stdout.includes('{') ? ended.facts() : ({} as RunFacts);
    };
    const startedAt = performance.now();
    const workers: Begun[] = Array.from({ length: workerCount }, () => system.begin(['worker'], shared));
    const everybody = join(system.directory, 'everybody.csv');
    writeFileSync(everybody, [...sampleExport({ people: backfillPeople, seed: 71 })].join(''));
    const backfill = enrich(`backfill ${everybody} --yes --json --max-credits 8000 --on-budget pause`);
    await enrich(
      `schedule set nightly --cron @daily --newest ${exports}/hubspot-*.csv --newest-by name --max-credits 5000`,
    );
    await expect.poll(() => system.sandbox.log.bill().calls, { timeout: 120_000 }).toBeGreaterThan(50);

    const nights: number[] = [];
    for (let night = 0; night < 7; night += 1) {
      writeNight(night);
      const triggeredAt = performance.now();
      await enrich('schedule trigger nightly');
      if (night === 2) {
        workers.shift()!.kill('SIGKILL');
        workers.push(system.begin(['worker'], shared));
      }
      if (night === 5) {
        workers.shift()!.kill('SIGTERM');
        workers.push(system.begin(['worker'], shared));
      }
      // The next one is due while this one is in progress: it is left out, and the one after it finds the newest file.
      if (night === overrunningNight) continue;
      await untilNights(night < overrunningNight ? night + 1 : night);
      nights.push(Math.round((performance.now() - triggeredAt) / 1_000));
    }

    const paused = await backfill;
    expect(paused).toMatchObject({
      status: 'paused',
      reason: expect.stringContaining('left, the price of one person'),
    });
    await enrich(`budget set run:${paused.run_id} 30000 --reason raised`);
    const filled = await enrich(`resume ${paused.run_id} --json`);
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map((worker) => worker.ended));
    const seconds = (performance.now() - startedAt) / 1_000;

    const runs = await nightlyRuns();
    const waits: number[] = [];
    for (const { run_id } of runs) waits.push(...(await waitsOf(run_id, filled.run_id)));
    const bill = system.sandbox.log.bill();
    const unknown = await system.warehouse.pool.query<{ attempts: number; credits: string }>(
      `select count(*)::int as attempts, coalesce(sum(credits_reserved), 0)::text as credits
       from enrichment.attempts where status = 'unknown'`,
    );
    console.log(
      [
        `${runs.length} nights beside a backfill of ${filled.rows} rows (${filled.calls} calls), ` +
          `${seconds.toFixed(0)} s`,
        `  a night took, in seconds: ${nights.join(', ')}`,
        `  calls ${bill.calls}, refused ${bill.refused}, people billed ${bill.people}, twice ` +
          Object.keys(bill.billedAgain).length,
        `  the workers' restarts left ${unknown.rows[0]!.attempts} calls unknown ` +
          `(${unknown.rows[0]!.credits} credits held)`,
        `  of ${waits.length} calls of the nights ${waits.filter((wait) => wait === 0).length} waited for ` +
          `none of the backfill's, the others for ${Math.max(...waits)} at most`,
      ].join('\n'),
    );
    expect(filled).toMatchObject({ status: 'finished', rows: backfillPeople });
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'finished'));
    expect(runs.map(({ file }) => file)).not.toContain(nightName(overrunningNight + 1));
    expect(bill).toMatchObject({ refused: 0, billedAgain: {} });
    // One call's time: every call that can be in flight was one of the backfill's when the batch became ready.
    expect(Math.max(...waits)).toBeLessThanOrEqual(concurrency * workerCount);
    await expectPromisesKept(system, shared.RATE_LIMITS);
  },
);

/** For each call of a night: how many calls of the backfill were admitted while it was ready and was not. */
async function waitsOf(night: string, backfill: string): Promise<number[]> {
  const ready = await system.batchesReadyAt(night);
  const { rows } = await system.warehouse.pool.query<{ run_id: string; batch: number; at: number }>(
    `select run_id, batch, extract(epoch from admitted_at)::float8 * 1000 as at from enrichment.attempts
     where run_id in ($1, $2) order by admitted_at`,
    [night, backfill],
  );
  const firstCalls = new Map<number, number>();
  for (const { run_id, batch, at } of rows)
    if (run_id === night && !firstCalls.has(batch)) firstCalls.set(batch, at);
  return [...firstCalls].map(
    ([batch, admittedAt]) =>
      rows.filter(({ run_id, at }) => run_id === backfill && at > ready.get(batch)! && at < admittedAt)
        .length,
  );
}
