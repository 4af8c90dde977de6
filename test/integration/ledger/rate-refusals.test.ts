import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import {
  abandonCall,
  acquireSlot,
  bulkMatchScope,
  endCall,
  endFailedCall,
  pauseEndpoint,
} from '../../../src/ledger/rate-windows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { bulkCalls, emptyWindows, nextCalls } from '../../helpers/warehouse/admit.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';
import { untilLockAwaited } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile({ connections: 20, connectMilliseconds: 60_000 });
const { ask, begin } = nextCalls(warehouse);

beforeEach(() => emptyWindows(warehouse));

it.each([
  ['the time that the service names', 30, 30, 30],
  ['an hour at most', 10_000_000, 3_600, 3_600],
  ['two seconds at least', 0, 2, 2],
  ['two seconds if the service names no time', undefined, 2, 2],
])('a 429 of the service pauses every worker for %s', async (_, retryAfter, least, most) => {
  const seconds = await pauseEndpoint(warehouse.database, bulkMatchScope, 'refused', retryAfter);
  expect(seconds).toBeGreaterThanOrEqual(least - 1);
  expect(seconds).toBeLessThanOrEqual(most);
  const runId = await runningRun(warehouse);
  expect(await ask(runId)).toMatchObject({
    kind: 'wait',
    reason: 'the service refused a call for its rate (429)',
  });
});

it('a pause after a 429 stays although a call that was admitted before succeeds', async () => {
  const runId = await runningRun(warehouse);
  await ask(runId, { people: 1 });
  let pausing: Promise<number> | undefined;
  const admitted = await warehouse.database.transaction().execute(async (transaction) => {
    await sql`select 1 from rate_scopes where scope = ${bulkMatchScope} for update`.execute(transaction);
    pausing = pauseEndpoint(warehouse.database, bulkMatchScope, 'refused', 20);
    await untilLockAwaited(warehouse);
    const call = { ...bulkCalls, callId: 'slipped in', deadlineSeconds: 30 };
    return acquireSlot(transaction, call, []);
  });
  expect(admitted).toEqual({ kind: 'acquired' });
  await pausing;
  await endCall(warehouse.database, bulkCalls, 'slipped in', 'accepted');
  const next = await ask(runId);
  expect(next).toMatchObject({ kind: 'wait', reason: 'the service refused a call for its rate (429)' });
});

it('four simultaneous 429s pause calls no longer than a single 429', async () => {
  const runId = await runningRun(warehouse);
  const calls = await Promise.all([1, 2, 3, 4].map(() => ask(runId)));
  for (const call of calls) {
    if (call.kind !== 'admitted') throw new Error(call.kind);
    expect(await pauseEndpoint(warehouse.database, bulkMatchScope, call.attemptId, undefined)).toBe(2);
    await endCall(warehouse.database, bulkCalls, call.attemptId, 'refused');
  }
});

it('each consecutive 429 doubles the pause, up to 128 seconds', async () => {
  const pauses: number[] = [];
  for (let refusal = 1; refusal <= 9; refusal += 1) {
    pauses.push(await pauseEndpoint(warehouse.database, bulkMatchScope, `refusal ${refusal}`, 1));
    await warehouse.query`update rate_scopes set paused_until = null`;
  }
  expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 128, 128]);
});

it('after a pause for a 429, only one probing call is admitted until the service accepts it', async () => {
  const runId = await runningRun(warehouse);
  await refuseAndResume();
  const admissions = await Promise.all(Array.from({ length: 10 }, () => ask(runId)));
  const admitted = admissions.filter((admission) => admission.kind === 'admitted');
  expect(admitted).toHaveLength(1);

  await endCall(warehouse.database, bulkCalls, admitted[0]!.attemptId, 'accepted');
  const afterwards = await Promise.all(Array.from({ length: 10 }, () => ask(runId)));
  expect(afterwards.filter((admission) => admission.kind === 'admitted')).toHaveLength(10);
});

it('an abandoned probing call is followed by another probing call at once', async () => {
  const runId = await runningRun(warehouse);
  await refuseAndResume();
  await abandonCall(warehouse.database, await begin(runId), 60);
  expect(await ask(runId)).toMatchObject({ kind: 'admitted' });
});

it('after a failed call, calls are admitted one at a time until the service accepts one', async () => {
  const runId = await runningRun(warehouse);
  const before = await begin(runId);
  await endFailedCall(warehouse.database, bulkCalls, await begin(runId), failed, 60);
  await endCall(warehouse.database, bulkCalls, before, 'accepted');
  const probe = await begin(runId);
  expect(await ask(runId)).toMatchObject({
    kind: 'wait',
    reason: 'one call probes whether the service accepts calls again',
  });
  await endFailedCall(warehouse.database, bulkCalls, probe, failed, 60);
  await endCall(warehouse.database, bulkCalls, await begin(runId), 'accepted');
  await begin(runId);
  await begin(runId);
});

it('each admission deletes up to two calls that have left every rate window', async () => {
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

const failed = { type: 'unauthorized', disposition: 'pause', httpStatus: 401, rateLimits: [] };

/** Records a 429 and ends its pause. */
async function refuseAndResume(): Promise<void> {
  await pauseEndpoint(warehouse.database, bulkMatchScope, 'refused', undefined);
  await warehouse.query`update rate_scopes set paused_until = clock_timestamp() - interval '1 second'`;
}
