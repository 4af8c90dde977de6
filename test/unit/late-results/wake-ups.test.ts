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

it('wake-ups are repeated until one succeeds', async () => {
  let failures = 2;
  const { wakes, rung } = wakeUps(async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('Temporal is away');
  });
  wakes.stored('a');
  await vi.advanceTimersByTimeAsync(30 * minute);
  expect(rung['a']).toEqual([1, 61, 121]);
});

it('closing sends the wake-ups of waiting runs at once', async () => {
  const { wakes, rung } = wakeUps();
  wakes.stored('woken');
  await vi.advanceTimersByTimeAsync(second);
  wakes.stored('waiting');
  await wakes.close();
  await vi.advanceTimersByTimeAsync(30 * minute);
  expect(rung).toEqual({ woken: [1], waiting: [1] });
});

it('closing ends in time even if Temporal does not answer', async () => {
  const { wakes } = wakeUps(() => new Promise(() => {}));
  wakes.stored('a');
  const closed = wakes.close();
  await vi.advanceTimersByTimeAsync(5 * second);
  await expect(closed).resolves.toBeUndefined();
});
