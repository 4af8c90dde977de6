import { EventEmitter } from 'node:events';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { beforeEach, expect, it, vi } from 'vitest';
import { SentCalls } from '../../../src/calls/sent-calls.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import type { Logger } from '../../../src/telemetry/log.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** The calls of a worker whose database has lost them all. */
function callsOfEmptyDatabase() {
  const pool = Object.assign(new EventEmitter(), { totalCount: 0 });
  const database = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const limits = { service: 'test', rateLimits: [], budgets: {} };
  const warehouse = { pool, database } as unknown as Warehouse;
  const log = { error: vi.fn() };
  return { sent: new SentCalls(warehouse, limits, log as unknown as Logger), pool, log };
}

it('SentCalls records a lost call again although the worker has no connection at the failover', async () => {
  const { sent } = callsOfEmptyDatabase();
  const recordAgain = vi.fn(() => Promise.resolve(undefined));
  sent.keep('attempt', 100, recordAgain);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(recordAgain).toHaveBeenCalledOnce();
});

it('SentCalls forgets an answer after two minutes, also if no call follows', async () => {
  const { sent, pool } = callsOfEmptyDatabase();
  const recordAgain = vi.fn(() => Promise.resolve(undefined));
  sent.keep('attempt', 100, recordAgain);
  await vi.advanceTimersByTimeAsync(122_000);
  expect(vi.getTimerCount()).toBe(0);
  recordAgain.mockClear();
  pool.emit('remove');
  await sent.recordLost();
  expect(recordAgain).not.toHaveBeenCalled();
});

it.each([
  ['fails', () => Promise.reject(new Error('a row is missing'))],
  ['pauses its run', () => Promise.resolve({ type: 'answer.not-recorded' })],
])('SentCalls lets other calls begin if a lost call %s when it is recorded again', async (_, record) => {
  const { sent, pool } = callsOfEmptyDatabase();
  const recordAgain = vi.fn<() => Promise<unknown>>(record);
  sent.keep('attempt', 100, recordAgain);
  pool.emit('remove');
  await sent.recordLost();
  pool.emit('remove');
  await sent.recordLost();
  expect(recordAgain).toHaveBeenCalledOnce();
});

it('SentCalls keeps answers while the database is away, and lets no call begin', async () => {
  const { sent, pool } = callsOfEmptyDatabase();
  const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const recordAgain = vi.fn<() => Promise<unknown>>(() => Promise.reject(away));
  sent.keep('attempt', 100, recordAgain);
  await vi.advanceTimersByTimeAsync(300_000);
  pool.emit('remove');
  await expect(sent.recordLost()).rejects.toThrow(away);
  recordAgain.mockReset().mockResolvedValue(undefined);
  await sent.recordLost();
  expect(recordAgain).toHaveBeenCalledOnce();
});

it('SentCalls records lost calls again when its worker ends, and keeps none', async () => {
  const { sent, pool } = callsOfEmptyDatabase();
  const recordAgain = vi.fn(() => Promise.resolve(undefined));
  sent.keep('attempt', 100, recordAgain);
  pool.emit('remove');
  await sent.close(0);
  expect(recordAgain).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(recordAgain).toHaveBeenCalledOnce();
});

it('SentCalls waits for the database when its worker ends, and records the calls that were lost', async () => {
  const { sent } = callsOfEmptyDatabase();
  const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const recordAgain = vi.fn<() => Promise<unknown>>(() => Promise.reject(away));
  sent.keep('attempt', 100, recordAgain);
  const closed = sent.close(60_000);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(recordAgain.mock.calls.length).toBeGreaterThan(10);
  recordAgain.mockReset().mockResolvedValue(undefined);
  await vi.advanceTimersByTimeAsync(1_000);
  await closed;
  expect(recordAgain).toHaveBeenCalledOnce();
});

it('SentCalls ends with an error in the log if the database stays away when its worker ends', async () => {
  const { sent, log } = callsOfEmptyDatabase();
  const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  sent.keep('attempt', 100, () => Promise.reject(away));
  const closed = sent.close(60_000);
  await vi.advanceTimersByTimeAsync(61_000);
  await closed;
  expect(log.error).toHaveBeenCalledExactlyOnceWith(
    { err: away, calls: 1 },
    'the last calls could not be checked for loss',
  );
});
