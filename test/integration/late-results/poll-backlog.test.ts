import { beforeEach, expect, it } from 'vitest';
import { syncLateResults, syncRunResults } from '../../../src/late-results/sync-late-results.ts';
import { type ServiceClient, pollOperation } from '../../../src/service/client.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  backlogOfPolls,
  callWithPhones,
  pollsBy,
  recordPhonesAnswer,
} from '../../helpers/warehouse/late-calls.ts';

const warehouse = await warehouseOfFile();
let polls: string[];

beforeEach(async () => {
  await warehouse.query`truncate runs, attempts, rate_calls, rate_scopes cascade`;
  polls = [];
});

/** A service that has no result yet. */
const client = {
  poll: async (requestId: string) => {
    polls.push(requestId);
    return { state: 'pending', retryAfterSeconds: undefined, rateLimits: [] };
  },
} as unknown as ServiceClient;

const tenAnHour = { ...pollsBy(warehouse, client, [{ calls: 10, seconds: 3_600 }]), pollAfterSeconds: 900 };

it('a run with 20 due polls and 10 free rate slots polls 10, and syncs again when a slot is free', async () => {
  const { runId } = await backlogOfPolls(warehouse, 20);
  const status = await syncRunResults(tenAnHour, runId, AbortSignal.timeout(120_000));
  expect(polls).toHaveLength(10);
  const seconds = (Date.parse(status.nextSyncAt!) - Date.parse(status.readAt)) / 1_000;
  expect(seconds).toBeGreaterThan(3_500);
  expect(seconds).toBeLessThanOrEqual(3_600);
});

it('a run without due polls syncs again at the deadline of its calls, and never if it awaits nothing', async () => {
  const { runId } = await backlogOfPolls(warehouse, 3);
  const sync = () => syncRunResults(tenAnHour, runId, AbortSignal.timeout(120_000));
  await warehouse.query`update attempts set next_poll_at = null, awaited_until = now() + interval '10 min'`;
  const { nextSyncAt, readAt, until } = await sync();
  expect(Date.parse(nextSyncAt!)).toBeGreaterThan(Date.parse(readAt));
  expect(nextSyncAt).toBe(until);
  await warehouse.query`update attempts set status = 'settled', credits_settled = 0`;
  expect(await sync()).toMatchObject({ awaited: 0, nextSyncAt: null });
});

it('each of 30 due polls is made once in three syncs with 10 free rate slots', async () => {
  const { runId } = await backlogOfPolls(warehouse, 30);
  for (let hour = 1; hour <= 3; hour += 1) {
    await syncRunResults(tenAnHour, runId, AbortSignal.timeout(120_000));
    await warehouse.query`delete from rate_calls`;
  }
  expect(new Set(polls).size).toBe(30);
  expect(polls).toHaveLength(30);
});

it('a poll that was interrupted when a worker stopped is repeated by the next sync', async () => {
  const { runId } = await backlogOfPolls(warehouse, 1);
  const stop = new AbortController();
  const cutOff = {
    poll: async () => {
      stop.abort(new Error('the worker stops'));
      throw new ServiceFailure('aborted', { endpoint: pollOperation('/webhook_result/{request_id}', '1') });
    },
  } as unknown as ServiceClient;
  const sync = (by: ServiceClient, signal: AbortSignal) =>
    syncRunResults({ ...tenAnHour, client: by }, runId, signal);
  await expect(sync(cutOff, stop.signal)).rejects.toThrow('the worker stops');
  await sync(client, AbortSignal.timeout(120_000));
  expect(polls).toHaveLength(1);
});

it('the sweep schedule makes the polls of a run only after they are 16 minutes overdue', async () => {
  await backlogOfPolls(warehouse, 20);
  await syncLateResults(tenAnHour, 'unattended', AbortSignal.timeout(120_000));
  expect(polls).toHaveLength(0);
  await warehouse.query`update attempts set next_poll_at = clock_timestamp() - interval '16 min'`;
  await syncLateResults(tenAnHour, 'unattended', AbortSignal.timeout(120_000));
  expect(polls).toHaveLength(10);
});

it.each(['the run', 'the sweep'])('polls by %s go only to the service that answered the call', async (by) => {
  const { runId } = await backlogOfPolls(warehouse, 3);
  await warehouse.query`update attempts set next_poll_at = clock_timestamp() - interval '16 min'`;
  const sync = (service: string) =>
    by === 'the run'
      ? syncRunResults({ ...tenAnHour, service }, runId, AbortSignal.timeout(120_000))
      : syncLateResults({ ...tenAnHour, service }, 'unattended', AbortSignal.timeout(120_000));
  await sync('another');
  expect(polls).toHaveLength(0);
  await sync('test');
  expect(polls).toHaveLength(3);
});

it('the sweep schedule makes a call unknown if its late results are 16 minutes past the deadline', async () => {
  const { attemptId } = await backlogOfPolls(warehouse, 20);
  await warehouse.query`
    update attempts set next_poll_at = null, awaited_until = clock_timestamp() - interval '16 min'`;
  await syncLateResults(tenAnHour, 'unattended', AbortSignal.timeout(120_000));
  const rows = await warehouse.query`select status from attempts where attempt_id = ${attemptId}`;
  expect(rows).toEqual([{ status: 'unknown' }]);
});

it('a call with a deadline before its first poll is polled at the deadline', async () => {
  const call = await callWithPhones(warehouse);
  const lateResults = { pollAfterSeconds: 900, deadlineSeconds: 60 };
  await recordPhonesAnswer(warehouse, call, [1, 1, 1], 3, 'pending', {}, lateResults);
  const rows = await warehouse.query`
    select extract(epoch from next_poll_at - awaited_until)::float8 as seconds
    from attempts where attempt_id = ${call.attemptId}`;
  expect(Math.abs(rows[0].seconds)).toBeLessThan(1);
});
