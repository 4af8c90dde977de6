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

/** Creates WakeUps, and records when each run is woken, in seconds from the beginning. */
function wakeUps(answer: Wake = async () => {}): { wakes: WakeUps; rung: Record<string, number[]> } {
  const start = Date.now();
  const rung: Record<string, number[]> = {};
  const wakes = new WakeUps(async (runId) => {
    (rung[runId] ??= []).push((Date.now() - start) / second);
    await answer(runId);
  });
  return { wakes, rung };
}

/** Stores a delivery at each interval until the duration is over. */
async function deliver(wakes: WakeUps, runId: string, everyMilliseconds: number, forMilliseconds: number) {
  for (let passed = 0; passed < forMilliseconds; passed += everyMilliseconds) {
    wakes.stored(runId);
    await vi.advanceTimersByTimeAsync(everyMilliseconds);
  }
}

it('the first delivery for a run wakes the run after a second', async () => {
  const { wakes, rung } = wakeUps();
  wakes.stored('a');
  await vi.advanceTimersByTimeAsync(minute);
  expect(rung).toEqual({ a: [1] });
});

it('wake-ups of a run are a minute apart while deliveries continue, and do not delay other runs', async () => {
  const { wakes, rung } = wakeUps();
  await deliver(wakes, 'busy', second, 3 * minute);
  wakes.stored('quiet');
  await vi.advanceTimersByTimeAsync(second);
  expect(rung).toEqual({ busy: [1, 61, 121, 181], quiet: [181] });
});

it('a wake-up that fails is repeated every minute until it succeeds', async () => {
  let failures = 2;
  const { wakes, rung } = wakeUps(async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('Temporal is away');
  });
  wakes.stored('a');
  await vi.advanceTimersByTimeAsync(30 * minute);
  expect(rung['a']).toEqual([1, 61, 121]);
});

it('close() sends outstanding wake-ups at once', async () => {
  const { wakes, rung } = wakeUps();
  wakes.stored('woken');
  await vi.advanceTimersByTimeAsync(second);
  wakes.stored('waiting');
  await wakes.close();
  await vi.advanceTimersByTimeAsync(30 * minute);
  expect(rung).toEqual({ woken: [1], waiting: [1] });
});

it('close() of the wake-ups ends within five seconds even if Temporal does not answer', async () => {
  const { wakes } = wakeUps(() => new Promise(() => {}));
  wakes.stored('a');
  const closed = wakes.close();
  await vi.advanceTimersByTimeAsync(5 * second);
  await expect(closed).resolves.toBeUndefined();
});
