import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WakeUps, type Wake } from '../../../src/late-results/receiver.ts';

const second = 1_000;
const minute = 60 * second;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Wake-ups with the times, in seconds from the beginning, at which each run was woken. */
function wakeUps(answer: Wake = async () => {}): { wakes: WakeUps; rung: Record<string, number[]> } {
  const start = Date.now();
  const rung: Record<string, number[]> = {};
  const wakes = new WakeUps(async (runId) => {
    (rung[runId] ??= []).push((Date.now() - start) / second);
    await answer(runId);
  });
  return { wakes, rung };
}

/** A delivery every so often, for so long. */
async function deliver(wakes: WakeUps, runId: string, everyMilliseconds: number, forMilliseconds: number) {
  for (let passed = 0; passed < forMilliseconds; passed += everyMilliseconds) {
    wakes.stored(runId);
    await vi.advanceTimersByTimeAsync(everyMilliseconds);
  }
}

it('wake-ups wake a run a second after its first delivery', async () => {
  const { wakes, rung } = wakeUps();
  wakes.stored('a');
  await vi.advanceTimersByTimeAsync(minute);
  expect(rung).toEqual({ a: [1] });
});

it('wake-ups come after pauses that double, up to five minutes, while deliveries continue', async () => {
  const { wakes, rung } = wakeUps();
  await deliver(wakes, 'a', second, 30 * minute);
  const pauses = rung['a']!.map((at, index, all) => at - (all[index - 1] ?? 0));
  expect(pauses.slice(0, 5)).toEqual([1, 2, 4, 8, 16]);
  expect(Math.max(...pauses)).toBe(300);
  expect(pauses.slice(9, -1).every((pause) => pause === 300)).toBe(true);
});

it('wake-ups keep one run from waiting for another', async () => {
  const { wakes, rung } = wakeUps();
  await deliver(wakes, 'busy', second, 10 * minute);
  wakes.stored('quiet');
  await vi.advanceTimersByTimeAsync(second);
  expect(rung['quiet']).toEqual([601]);
});

it('wake-ups begin anew with a second once a run has been quiet for half an hour', async () => {
  const { wakes, rung } = wakeUps();
  await deliver(wakes, 'a', second, minute);
  await vi.advanceTimersByTimeAsync(35 * minute);
  const before = rung['a']!.length;
  wakes.stored('a');
  await vi.advanceTimersByTimeAsync(second);
  expect(rung['a']).toHaveLength(before + 1);
});

it('wake-ups are repeated at growing intervals until one succeeds', async () => {
  let failures = 3;
  const { wakes, rung } = wakeUps(async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('Temporal is away');
  });
  wakes.stored('a');
  await vi.advanceTimersByTimeAsync(30 * minute);
  expect(rung['a']).toEqual([1, 3, 7, 15]);
});

it('wake-ups for waiting runs are sent at once when they are closed', async () => {
  const { wakes, rung } = wakeUps();
  wakes.stored('woken');
  await vi.advanceTimersByTimeAsync(second);
  wakes.stored('waiting');
  await wakes.close();
  await vi.advanceTimersByTimeAsync(30 * minute);
  expect(rung).toEqual({ woken: [1], waiting: [1] });
});

it('wake-ups end their closing in time while Temporal does not answer', async () => {
  const { wakes } = wakeUps(() => new Promise(() => {}));
  wakes.stored('a');
  const closed = wakes.close();
  await vi.advanceTimersByTimeAsync(5 * second);
  await expect(closed).resolves.toBeUndefined();
});
