import { beforeEach, expect, it, vi } from 'vitest';
import { FailureStreak } from '../../../src/calls/batches/failure-streak.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

it('FailureStreak is too long after five failures of calls that were sent', () => {
  const streak = new FailureStreak();
  expect(Array.from({ length: 5 }, () => streak.tooLong())).toEqual([false, false, false, false, true]);
  streak.end();
  expect(streak.tooLong()).toBe(false);
});

it('FailureStreak lets calls that cannot be sent try for two minutes, however many fail at once', () => {
  const streak = new FailureStreak();
  const tries = Array.from({ length: 10 }, () => streak.pauseOfUnsent());
  expect(tries).toEqual(Array.from({ length: 10 }, () => 500));
  for (let passed = 0; passed < 120_000;) {
    const pause = streak.pauseOfUnsent()!;
    expect(pause).toBeGreaterThanOrEqual(500);
    expect(pause).toBeLessThanOrEqual(15_000);
    vi.advanceTimersByTime(pause);
    passed += pause;
  }
  expect(streak.pauseOfUnsent()).toBeUndefined();
});

it('FailureStreak waits again for two minutes in a later outage', () => {
  const streak = new FailureStreak();
  streak.pauseOfUnsent();
  vi.advanceTimersByTime(3_600_000);
  expect(streak.pauseOfUnsent()).toBe(500);
  vi.advanceTimersByTime(119_000);
  streak.end();
  expect(streak.pauseOfUnsent()).toBe(500);
});

it('FailureStreak waits again for two minutes once a call was sent, also if the service refused the call', () => {
  const streak = new FailureStreak();
  streak.pauseOfUnsent();
  vi.advanceTimersByTime(121_000);
  streak.endUnsent();
  expect(streak.pauseOfUnsent()).toBe(500);
});
