import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { batchesReadyAt } from '../helpers/temporal/temporal-actions.ts';
import { TestSystem, type RunningCommand } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/**
 * A soak that plays a week of nights in minutes: `npm run soak:week`.
 *
 * A schedule runs seven exports that overlap and change, beside a backfill of 20,000 people, some of them also in the
 * exports. A worker is killed and another worker is drained. One night is paused until the next night was due, and the
 * budget of the backfill runs out and is raised.
 */
const backfillPeople = 20_000;
const firstNight = 600;
const newEachNight = 90;
const overrunningNight = 4;
const limit = { calls: 60, seconds: 2 };

const system = await TestSystem.ofFile({ latency: 60, rateLimits: `${limit.calls}/${limit.seconds}s` });
const exports = join(system.directory, 'exports');
mkdirSync(exports);

/**
 * Writes the export of a night: people of earlier nights, some of them changed, and new people, in another order each
 * night.
 */
function writeNight(night: number): void {
  const people = firstNight + night * newEachNight + (night >= overrunningNight ? 2_000 : 0);
  const [header, ...rows] = [...sampleExport({ people, seed: 70 })].join('').trimEnd().split('\r\n');
  const changed = rows.map((row, index) =>
    index % 7 === night ? row.replace(/Sweden|Germany|France|Canada|United \w+/, 'Norway') : row,
  );
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
  return system.warehouse.query<RunLine>`
    select run_id, status, file_name as file
    from enrichment.runs where file_name like 'hubspot-%' order by run_id`;
}

/** Pauses the run of a night after its first call. @returns the run */
async function pauseNight(night: number, enrich: (command: string) => Promise<unknown>): Promise<string> {
  let runId: string | undefined;
  await expect
    .poll(
      async () => {
        const runs = await nightlyRuns();
        runId = runs.find((run) => run.file === nightName(night) && run.status === 'running')?.run_id;
        return runId ?? runs.map(({ file, status }) => `${file} ${status}`);
      },
      { timeout: 180_000, interval: 50 },
    )
    .toEqual(expect.any(String));
  await enrich(`pause ${runId}`);
  return runId!;
}

/**
 * Fires the schedule as its cron time does, because `enrich schedule trigger` refuses a second run beside the first.
 */
async function fire(): Promise<void> {
  const client = await system.temporal();
  for await (const { scheduleId } of client.schedule.list())
    if (scheduleId.includes('nightly'))
      await client.schedule.getHandle(scheduleId).trigger(ScheduleOverlapPolicy.SKIP);
}

/** Waits until the schedule has skipped this number of nights, and has this number of nights in progress. */
async function untilSchedule(expected: {
  readonly skipped: number;
  readonly running: number;
}): Promise<void> {
  const client = await system.temporal();
  const read = async (): Promise<unknown> => {
    for await (const { scheduleId } of client.schedule.list()) {
      if (!scheduleId.includes('nightly')) continue;
      const { info } = await client.schedule.getHandle(scheduleId).describe();
      return { skipped: info.numActionsSkippedOverlap, running: info.runningActions.length };
    }
    return undefined;
  };
  await expect.poll(read, { timeout: 60_000, interval: 200 }).toEqual(expected);
}

async function untilNights(finished: number): Promise<void> {
  await expect
    .poll(async () => (await nightlyRuns()).filter(({ status }) => status === 'finished').length, {
      timeout: 180_000,
      interval: 200,
    })
    .toBe(finished);
}

/** Maximum calls in flight of one worker, and of both workers. */
const concurrency = 4;
const workerCount = 2;

it(
  'over a week of nights no person is billed twice, and no night waits for the backfill',
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
    const workers: RunningCommand[] = Array.from({ length: workerCount }, () =>
      system.begin(['worker'], shared),
    );
    const everybody = join(system.directory, 'everybody.csv');
    writeFileSync(everybody, [...sampleExport({ people: backfillPeople, seed: 71 })].join(''));
    const backfill = enrich(`backfill ${everybody} --yes --json --max-credits 8000 --on-budget pause`);
    await enrich(
      // The night that takes too long has four times the usual rows.
      `schedule set nightly --cron @daily --newest ${exports}/hubspot-*.csv --max-credits 5000 ` +
        '--expect rows=50%..500%',
    );
    await expect.poll(() => system.sandbox.log.bill().calls, { timeout: 120_000 }).toBeGreaterThan(50);

    const nights: number[] = [];
    let overrunning = '';
    let resumed: Promise<RunFacts> | undefined;
    const pausedBetween = [0, 0];
    for (let night = 0; night < 7; night += 1) {
      writeNight(night);
      const triggeredAt = performance.now();
      // A run has its final status a moment before its workflow ends, and the schedule skips a night beside a running
      // workflow.
      if (night <= overrunningNight) await untilSchedule({ skipped: 0, running: 0 });
      else if (night > overrunningNight + 1) await untilSchedule({ skipped: 1, running: 0 });
      await fire();
      if (night === 2) {
        workers.shift()!.kill('SIGKILL');
        workers.push(system.begin(['worker'], shared));
      }
      if (night === 5) {
        workers.shift()!.kill('SIGTERM');
        workers.push(system.begin(['worker'], shared));
      }
      // The next night is due while this night is in progress. The schedule skips the next night, and the night after
      // that finds the newest file.
      if (night === overrunningNight) {
        pausedBetween[0] = Date.now();
        overrunning = await pauseNight(night, enrich);
        continue;
      }
      if (night === overrunningNight + 1) {
        await untilSchedule({ skipped: 1, running: 1 });
        resumed = enrich(`resume ${overrunning} --json`);
        await expect
          .poll(async () => (await nightlyRuns()).find(({ run_id }) => run_id === overrunning)?.status, {
            timeout: 60_000,
            interval: 20,
          })
          .not.toBe('paused');
        pausedBetween[1] = Date.now();
      }
      await untilNights(night < overrunningNight ? night + 1 : night);
      if (resumed !== undefined) {
        expect(await resumed).toMatchObject({ status: 'finished' });
        resumed = undefined;
      }
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
    const { passed, intrusions } = await besideNights(
      runs.map(({ run_id }) => run_id),
      filled.run_id,
      { runId: overrunning, from: pausedBetween[0]!, to: pausedBetween[1]! },
    );
    const bill = system.sandbox.log.bill();
    const unknown = await system.warehouse.query<{ attempts: number; credits: string }>`
      select count(*)::int as attempts, coalesce(sum(credits_reserved), 0)::text as credits
      from enrichment.attempts where status = 'unknown'`;
    console.log(
      [
        `${runs.length} nights beside a backfill of ${filled.rows} rows (${filled.calls} calls), ` +
          `${seconds.toFixed(0)} s`,
        `  a night took, in seconds: ${nights.join(', ')}`,
        `  calls ${bill.calls}, refused ${bill.refused}, people billed ${bill.people}, twice ` +
          Object.keys(bill.billedAgain).length,
        `  the workers' restarts left ${unknown[0]!.attempts} calls unknown ` +
          `(${unknown[0]!.credits} credits held)`,
        `  ${passed} calls of the backfill were admitted while a batch of a night was ready, ` +
          `${intrusions} of them without leaving it a slot`,
      ].join('\n'),
    );
    expect(filled).toMatchObject({ status: 'finished', rows: backfillPeople });
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'finished'));
    expect(runs.map(({ file }) => file)).not.toContain(nightName(overrunningNight + 1));
    expect(bill).toMatchObject({ refused: 0, billedAgain: {} });
    expect(intrusions).toBe(0);
    // Without statistics PostgreSQL would compare all rows with each other in the queries that check the promises.
    await system.warehouse.pool.query('analyze');
    await expectPromisesKept(system, shared.RATE_LIMITS);
  },
);

/** Milliseconds. An admission that takes longer may have missed a batch that became ready during the admission. */
const longestAdmission = 1_000;

/**
 * Compares the calls of the backfill with the batches of the nights that were ready and not admitted yet.
 *
 * @param pause the pause of a night, during which its batches need no slots
 * @returns the calls that were admitted beside ready batches, and those that left these batches too few slots
 */
async function besideNights(
  nights: readonly string[],
  backfill: string,
  pause: { readonly runId: string; readonly from: number; readonly to: number },
): Promise<{ passed: number; intrusions: number }> {
  const rows = await system.warehouse.query<{
    run_id: string;
    batch: number;
    at: number;
    until: number;
  }>`
    select a.run_id, a.batch, extract(epoch from c.started_at)::float8 * 1000 as at,
      extract(epoch from c.counted_until)::float8 * 1000 as until
    from enrichment.attempts a join enrichment.rate_calls c on c.call_id = a.attempt_id
    order by c.started_at`;
  const waiting: { readonly runId: string; readonly from: number; readonly to: number }[] = [];
  for (const runId of nights) {
    for (const [batch, from] of await batchesReadyAt(await system.temporal(), runId)) {
      const first = rows.find((row) => row.run_id === runId && row.batch === batch);
      if (first) waiting.push({ runId, from: from + longestAdmission, to: first.at });
    }
  }
  let passed = 0;
  let intrusions = 0;
  for (const [index, { run_id, at }] of rows.entries()) {
    if (run_id !== backfill) continue;
    const isPaused = at >= pause.from && at <= pause.to;
    const ready = waiting.filter(
      ({ runId, from, to }) => from < at && at < to && !(isPaused && runId === pause.runId),
    ).length;
    if (ready === 0) continue;
    passed += 1;
    const used = rows.slice(0, index).filter(({ until }) => until > at - limit.seconds * 1_000).length;
    if (limit.calls - used <= ready) intrusions += 1;
  }
  return { passed, intrusions };
}
