import { expect, it } from 'vitest';
import { RateWindows, parseWindowLimits } from '../../../src/sandbox/rate-windows.ts';

const start = Date.UTC(2026, 10, 21);

function windows(limits: string): RateWindows {
  return new RateWindows(parseWindowLimits(limits));
}

it('a rate window of the sandbox begins with the first request and has a fixed end', () => {
  const rates = windows('2/10s');
  const refusals = [0, 9_000, 9_999, 10_000].map((at) => rates.count('/a', start + at)?.seconds);
  expect(refusals).toEqual([undefined, undefined, 1, undefined]);
});

it('a rate window of the sandbox keeps its used slots over a restart', () => {
  const rates = windows('2/minute');
  const calls = [-86_400_001, -3_000, -2_000, -1_000].map((at) => ({
    path: '/a',
    at: start + at,
    status: at === -2_000 ? 429 : 200,
  }));
  rates.replay(calls, start);
  expect(rates.count('/a', start)).toMatchObject({ seconds: 57 });
});
