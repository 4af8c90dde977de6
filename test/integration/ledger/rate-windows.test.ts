import { beforeEach, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import {
  abandonCall,
  bulkMatchScope,
  endCall,
  freeSlots,
  releaseSlot,
} from '../../../src/ledger/rate-windows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { bulkCalls, emptyWindows, nextCalls } from '../../helpers/warehouse/next-calls.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 20, connectMilliseconds: 60_000 });
const { ask } = nextCalls(warehouse);

beforeEach(() => emptyWindows(warehouse));

const three: RateLimit[] = [{ calls: 3, seconds: 10 }];

it('concurrent admissions never exceed a rate window', async () => {
  const runId = await runningRun(warehouse);
  const admissions = await Promise.all(Array.from({ length: 30 }, () => ask(runId, { rateLimits: three })));
  expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(3);
});

it('a rate window counts a call until one window after its answer', async () => {
  const runId = await runningRun(warehouse);
  const admitted = await Promise.all([1, 2, 3].map(() => ask(runId, { rateLimits: three })));
  // Admitted 9.5 s ago, answered just now: the service may have counted them this very moment.
  await warehouse.query`update rate_calls set started_at = started_at - interval '9.5 seconds'`;
  for (const admission of admitted) {
    if (admission.kind === 'admitted')
      await endCall(warehouse.database, bulkCalls, admission.attemptId, true);
  }
  const next = await ask(runId, { rateLimits: three });
  expect(next).toMatchObject({ kind: 'wait', reason: 'the rate window of 3/10s is full' });
  expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(9_500);
});

it('a rate window releases the slot of a dead process at the deadline of its call and one window', async () => {
  const runId = await runningRun(warehouse);
  await Promise.all([1, 2, 3].map(() => ask(runId, { rateLimits: three })));
  await warehouse.query`update rate_calls set counted_until = clock_timestamp() - interval '10.1 seconds'`;
  expect(await ask(runId, { rateLimits: three })).toMatchObject({ kind: 'admitted' });
});

it('admit() reports exactly when the next slot is free', async () => {
  const runId = await runningRun(warehouse);
  await Promise.all([1, 2, 3].map(() => ask(runId, { rateLimits: three })));
  const before = performance.now();
  await warehouse.query`update rate_calls set counted_until = clock_timestamp() - interval '6 seconds'`;
  const next = await ask(runId, { rateLimits: three });
  const elapsed = performance.now() - before;
  expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThanOrEqual(Math.floor(4_000 - elapsed));
  expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(4_000);
});

it('admit() obeys each of several rate windows', async () => {
  const runId = await runningRun(warehouse);
  const both: RateLimit[] = [
    { calls: 2, seconds: 1 },
    { calls: 3, seconds: 3600 },
  ];
  await Promise.all([1, 2].map(() => ask(runId, { rateLimits: both })));
  expect(await ask(runId, { rateLimits: both })).toMatchObject({
    reason: 'the rate window of 2/second is full',
  });
  await warehouse.query`update rate_calls set counted_until = clock_timestamp() - interval '2 seconds'`;
  expect(await ask(runId, { rateLimits: both })).toMatchObject({ kind: 'admitted' });
  await warehouse.query`update rate_calls set counted_until = clock_timestamp() - interval '2 seconds'`;
  expect(await ask(runId, { rateLimits: both })).toMatchObject({
    reason: 'the rate window of 3/hour is full',
  });
});

it('a rate window keeps the slot of an abandoned call until the call can no longer arrive', async () => {
  const runId = await runningRun(warehouse);
  const rateLimits = [{ calls: 1, seconds: 1 }];
  const call = await ask(runId, { rateLimits, deadlineSeconds: 2 });
  if (call.kind !== 'admitted') throw new Error(call.kind);
  await abandonCall(warehouse.database, call.attemptId, 30);
  const { wait } = await freeSlots(warehouse.database, bulkCalls, rateLimits);
  const slots = await warehouse.query<{ seconds: number }>`
    select extract(epoch from counted_until - clock_timestamp())::float8 as seconds from rate_calls`;
  expect(wait).toBeDefined();
  expect(slots[0]!.seconds).toBeGreaterThan(25);
});

it('a rate window forgets calls that have left every window while others are admitted', async () => {
  const runId = await runningRun(warehouse);
  await warehouse.pool.query(`
    insert into rate_calls (call_id, scope, counted_until)
    select 'old-' || age, '${bulkMatchScope}', clock_timestamp() - make_interval(hours => age)
    from generate_series(23, 49) as age`);
  const remaining = async (): Promise<string[]> => {
    expect(await ask(runId)).toMatchObject({ kind: 'admitted' });
    const rows = await warehouse.query<{ call_id: string }>`
      select call_id from rate_calls where call_id like 'old-%' order by counted_until limit 1`;
    return rows.map((row) => row.call_id);
  };
  expect(await remaining()).toEqual(['old-47']);
  expect(await remaining()).toEqual(['old-45']);
  for (let calls = 0; calls < 20; calls += 1) await ask(runId);
  expect(await remaining()).toEqual(['old-23']);
});

it('a rate window releases the slot of a call that was never sent at once', async () => {
  const runId = await runningRun(warehouse);
  const one: RateLimit[] = [{ calls: 1, seconds: 60 }];
  const admission = await ask(runId, { rateLimits: one });
  if (admission.kind === 'admitted') await releaseSlot(warehouse.database, admission.attemptId);
  expect(await ask(runId, { rateLimits: one })).toMatchObject({ kind: 'admitted' });
});
