import { beforeEach, expect, it, vi } from 'vitest';
import { CallStreaks } from '../../../src/calls/attempt-call.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

it('CallStreaks pauses a run after five sent calls in a row have failed', () => {
  const streak = new CallStreaks();
  expect(Array.from({ length: 5 }, () => streak.tooLong('run', 'failed'))).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
  streak.end('run');
  expect(streak.tooLong('run', 'failed')).toBe(false);
});

it('CallStreaks retries unsent calls during two minutes, even if ten of them fail at once', () => {
  const streak = new CallStreaks();
  const tries = Array.from({ length: 10 }, () => streak.pauseOfUnsent()!);
  expect(tries.map(({ milliseconds }) => milliseconds)).toEqual(Array.from({ length: 10 }, () => 500));
  expect(tries.map(({ isFirst }) => isFirst)).toEqual([true, ...Array<boolean>(9).fill(false)]);
  for (let passed = 0; passed < 120_000;) {
    const pause = streak.pauseOfUnsent()!.milliseconds;
    expect(pause).toBeGreaterThanOrEqual(500);
    expect(pause).toBeLessThanOrEqual(15_000);
    vi.advanceTimersByTime(pause);
    passed += pause;
  }
  expect(streak.pauseOfUnsent()).toBeUndefined();
});

it('CallStreaks retries unsent calls for two minutes again when a later outage begins', () => {
  const streak = new CallStreaks();
  streak.pauseOfUnsent();
  vi.advanceTimersByTime(3_600_000);
  expect(streak.pauseOfUnsent()).toEqual({ milliseconds: 500, isFirst: true });
  vi.advanceTimersByTime(119_000);
  streak.end('run');
  expect(streak.pauseOfUnsent()).toEqual({ milliseconds: 500, isFirst: true });
});
