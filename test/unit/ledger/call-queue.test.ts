import { afterEach, expect, it } from 'vitest';
import { CallQueue, type CallQueueOptions } from '../../../src/ledger/call-queue.ts';

const never = () => new AbortController().signal;
let queue: CallQueue | undefined;

afterEach(() => queue?.close());

function open(options: Partial<CallQueueOptions>): CallQueue {
  queue = new CallQueue({
    concurrency: 2,
    freeSlots: () => Promise.resolve({ slots: Number.POSITIVE_INFINITY, wait: undefined }),
    patienceMilliseconds: 1_000,
    ...options,
  });
  return queue;
}

/** A job that adds its name to `begun` when it begins, and ends when the test calls `end`. */
function job(name: string, begun: string[]) {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { end, run: () => (begun.push(name), ended) };
}

it('the call queue never has more calls in flight than its limit', async () => {
  const begun: string[] = [];
  const calls = open({ concurrency: 3 });
  const jobs = Array.from({ length: 20 }, (_, index) => job(`${index}`, begun));
  const all = jobs.map((each) => calls.run('nightly', each.run, never()));
  await expect.poll(() => calls.waiting).toBe(17);
  expect(begun).toHaveLength(3);
  for (const each of jobs) each.end();
  await Promise.all(all);
  expect(begun).toHaveLength(20);
});

it('the call queue prefers ad hoc calls to nightly ones, and nightly ones to a backfill', async () => {
  const begun: string[] = [];
  const calls = open({ concurrency: 1 });
  const first = job('first', begun);
  const all = [calls.run('nightly', first.run, never())];
  await expect.poll(() => begun).toEqual(['first']);
  for (const name of ['backfill', 'nightly', 'ad-hoc'] as const) {
    const next = job(name, begun);
    next.end();
    all.push(calls.run(name, next.run, never()));
  }
  await expect.poll(() => calls.waiting).toBe(3);
  first.end();
  await Promise.all(all);
  expect(begun).toEqual(['first', 'ad-hoc', 'nightly', 'backfill']);
});

it('the call queue requests slots from the database when its local slots are used up', async () => {
  let slots = 0;
  const calls = open({
    freeSlots: () => {
      slots += 1;
      return Promise.resolve(
        slots % 2 === 0
          ? { slots: 3, wait: undefined }
          : { slots: 0, wait: { milliseconds: 5, reason: 'full' } },
      );
    },
  });
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) => calls.run('nightly', async () => index, never())),
  );
  expect(results.map((result) => result.kind)).toEqual(Array(10).fill('ran'));
  expect(slots).toBeGreaterThanOrEqual(8);
});

it('the call queue hands back a call that would wait longer than `patienceMilliseconds`', async () => {
  let ran = false;
  const wait = { milliseconds: 60_000, reason: 'the rate window of 600/hour is full' };
  const calls = open({ freeSlots: () => Promise.resolve({ slots: 0, wait }) });
  const result = await calls.run('nightly', async () => (ran = true), never());
  expect(result).toEqual({ kind: 'wait', ...wait });
  expect(ran).toBe(false);
});

it('the call queue continues after an outage of the database', async () => {
  let away = true;
  const calls = open({
    freeSlots: () => {
      if (!away) return Promise.resolve({ slots: 1, wait: undefined });
      away = false;
      return Promise.reject(new Error('the database is away'));
    },
  });
  expect(await calls.run('nightly', async () => 'called', never())).toEqual({
    kind: 'ran',
    result: 'called',
  });
});

it('the call queue never begins a call after the caller has stopped waiting', async () => {
  const begun: string[] = [];
  const calls = open({ concurrency: 1 });
  const first = job('first', begun);
  const running = calls.run('nightly', first.run, never());
  await expect.poll(() => begun).toEqual(['first']);
  const giveUp = new AbortController();
  const second = calls.run('nightly', job('second', begun).run, giveUp.signal);
  giveUp.abort(new Error('given up'));
  await expect(second).rejects.toThrow('given up');
  first.end();
  await running;
  expect(await calls.run('nightly', async () => 'third', never())).toEqual({
    kind: 'ran',
    result: 'third',
  });
  expect(begun).toEqual(['first']);
});

it('the call queue hands back waiting calls when its worker stops, and finishes the current one', async () => {
  const begun: string[] = [];
  const calls = open({ concurrency: 1 });
  const first = job('first', begun);
  const running = calls.run('nightly', first.run, never());
  await expect.poll(() => begun).toEqual(['first']);
  const second = calls.run('nightly', job('second', begun).run, never());
  calls.handBack();
  const third = calls.run('ad-hoc', job('third', begun).run, never());
  expect(await second).toMatchObject({ kind: 'wait', milliseconds: 1_000 });
  expect(await third).toMatchObject({ kind: 'wait', milliseconds: 1_000 });
  first.end();
  expect(await running).toMatchObject({ kind: 'ran' });
  expect(begun).toEqual(['first']);
});
