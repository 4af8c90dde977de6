import { beforeEach, expect, it } from 'vitest';
import type { RateLimit, ReportedWindow } from '../../../src/domain/rates/rate-limit.ts';
import {
  readDatabaseClockText,
  recordRateReports,
  endCall,
  countFreeSlots,
} from '../../../src/ledger/rate-windows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { bulkCalls, emptyWindows, nextCalls } from '../../helpers/warehouse/admit.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 20, connectMilliseconds: 60_000 });
const { ask, begin } = nextCalls(warehouse);

beforeEach(() => emptyWindows(warehouse));

const hour = (left: number | null, limit: number | null = 600): ReportedWindow => ({
  seconds: 3_600,
  limit,
  used: undefined,
  left,
});

/** Stores usage statistics as if they had just been requested. */
async function statistics(window: ReportedWindow): Promise<void> {
  const beganAt = await readDatabaseClockText(warehouse.database);
  await recordRateReports(warehouse.database, bulkCalls, { beganAt }, { rateLimits: [window] });
}

function end(attemptId: string, ...rateLimits: ReportedWindow[]): Promise<void> {
  return endCall(warehouse.database, bulkCalls, attemptId, 'accepted', { rateLimits });
}

async function free(rateLimits: RateLimit[] = []): Promise<number> {
  return (await countFreeSlots(warehouse.database, bulkCalls, rateLimits)).slots;
}

it('a rate report of the service is used if it has fewer calls left than RATE_LIMITS allows', async () => {
  const runId = await runningRun(warehouse);
  await end(await begin(runId), hour(2));
  expect(await free([{ calls: 600, seconds: 3_600 }])).toBe(2);
  const admissions = await Promise.all(Array.from({ length: 10 }, () => ask(runId)));
  expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(2);
});

it('a rate report limits only calls to the service that sent it', async () => {
  const runId = await runningRun(warehouse);
  await end(await begin(runId), hour(0));
  const elsewhere = { ...bulkCalls, service: 'https://elsewhere.example/api/v1' };
  expect((await countFreeSlots(warehouse.database, elsewhere, [])).slots).toBe(Number.POSITIVE_INFINITY);
  expect(await ask(runId)).toMatchObject({ kind: 'wait' });
  const admitted = await ask(runId, { service: elsewhere.service });
  await endCall(warehouse.database, elsewhere, (admitted as { attemptId: string }).attemptId, 'accepted', {
    rateLimits: [hour(70)],
  });
  expect([await free(), (await countFreeSlots(warehouse.database, elsewhere, [])).slots]).toEqual([0, 70]);
});

it('a rate report without calls left stops all calls for the length of its window', async () => {
  const runId = await runningRun(warehouse);
  await end(await begin(runId), { ...hour(0), seconds: 60 }, hour(40));
  const next = await ask(runId);
  expect(next).toMatchObject({ kind: 'wait', reason: expect.stringContaining('window of 1m') });
  expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(59_000);
  expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(60_000);
});

it('one call an hour tests whether a used-up day window has ended', async () => {
  const runId = await runningRun(warehouse);
  const day = (left: number): ReportedWindow => ({ seconds: 86_400, limit: 2_000, used: undefined, left });
  const anHourLater = () =>
    warehouse.query`
      update rate_reports
      set said_at = said_at - interval '61 minutes', believed_until = believed_until - interval '61 minutes'`;
  const askTenTimes = async () =>
    (await Promise.all(Array.from({ length: 10 }, () => ask(runId)))).flatMap((admission) =>
      admission.kind === 'admitted' ? [admission.attemptId] : [],
    );
  await end(await begin(runId), day(0));
  const next = await ask(runId);
  expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(59 * 60_000);
  expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(60 * 60_000);

  await anHourLater();
  const asked = await askTenTimes();
  expect(asked).toHaveLength(1);
  await endCall(warehouse.database, bulkCalls, asked[0]!, 'refused', { rateLimits: [day(0)] });
  expect(await askTenTimes()).toEqual([]);

  await anHourLater();
  await end((await askTenTimes())[0]!, day(1_999));
  expect(await free()).toBe(1_999);
});

it('calls in flight are subtracted from a rate report, because the service may not have counted them', async () => {
  const runId = await runningRun(warehouse);
  const calls = [await begin(runId), await begin(runId), await begin(runId)];
  await end(calls[0]!, hour(5));
  expect(await free()).toBe(3);
  await end(calls[1]!, hour(4));
  await end(calls[2]!, hour(3));
  expect(await free()).toBe(3);
});

it('the calls left in a rate report do not rise when an older answer arrives later', async () => {
  const runId = await runningRun(warehouse);
  const [first, second] = [await begin(runId), await begin(runId)];
  await end(second, hour(8));
  await end(first, hour(9));
  expect(await free()).toBe(8);
});

it('the calls left in a rate report rise when a later call is counted in a new window', async () => {
  const runId = await runningRun(warehouse);
  await end(await begin(runId), hour(8));
  await end(await begin(runId), hour(599));
  expect(await free()).toBe(599);
});

it('a rate report without calls left ends at the retry-after time of the refusal', async () => {
  const runId = await runningRun(warehouse);
  const refused = await begin(runId);
  await endCall(warehouse.database, bulkCalls, refused, 'refused', {
    rateLimits: [hour(0)],
    retryAfterSeconds: 30,
  });
  const next = await ask(runId);
  expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(30_000);
});

it('a rate window begins with its first call, not with a report that no call is used yet', async () => {
  const runId = await runningRun(warehouse);
  const unused = { ...hour(20, 20), seconds: 60 };
  await statistics(unused);
  await warehouse.query`update rate_reports set believed_until = believed_until - interval '55 seconds'`;
  await end(await begin(runId), { ...unused, left: 0 });
  const next = await ask(runId);
  expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(55_000);
});

it('a rate report without calls left ends when usage statistics show a new window', async () => {
  await end(await begin(await runningRun(warehouse)), hour(0));
  await statistics(hour(599));
  expect(await free()).toBe(599);
  await statistics(hour(0));
  expect(await free()).toBe(0);
  await statistics(hour(600));
  expect(await free()).toBe(600);
});
