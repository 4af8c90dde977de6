import { describe, expect, it } from 'vitest';
import { hasFallenBelow, matchRate } from '../../../src/domain/runs/match-rate.ts';

describe('a match rate', () => {
  it.each([
    [70, 100, 0.6042, 0.7811],
    [0, 20, 0, 0.1611],
    [20, 20, 0.8389, 1],
    [1, 1, 0.2065, 1],
  ])('the match rate of %i of %i lies within its Wilson interval', (found, answered, low, high) => {
    const rate = matchRate({ found, answered })!;
    expect(rate.low).toBeCloseTo(low, 3);
    expect(rate.high).toBeCloseTo(high, 3);
  });

  it('the match rate is unknown before a person was answered', () => {
    expect(matchRate({ found: 0, answered: 0 })).toBeUndefined();
  });
});

describe('the guard of the match rate', () => {
  it('the quality gate does not judge by few people, however low their rate', () => {
    expect(hasFallenBelow(0.4, { found: 0, answered: 99 })).toBe(false);
  });

  it('the quality gate stops when the latest people show that the rate has fallen', () => {
    expect(hasFallenBelow(0.4, { found: 20, answered: 100 })).toBe(true);
    expect(hasFallenBelow(0.4, { found: 35, answered: 100 })).toBe(false);
  });

  it('the quality gate seldom stops a long run whose rate is slightly above the minimum', () => {
    expect(stoppedOf(200, 0.45)).toBeLessThanOrEqual(2);
  });

  it('the quality gate stops nearly every run whose rate falls to half of the minimum', () => {
    expect(stoppedOf(200, 0.2)).toBe(200);
  });
});

/** How many of so many runs of 1,000 calls at this rate are stopped by a minimum of 40 %, looked at after each call. */
function stoppedOf(runs: number, rate: number): number {
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  let stopped = 0;
  for (let run = 0; run < runs; run += 1) {
    const calls: number[] = [];
    for (let call = 0; call < 1_000; call += 1) {
      calls.push(Array.from({ length: 10 }, random).filter((drawn) => drawn < rate).length);
      const latest = calls.slice(-50);
      const found = latest.reduce((sum, each) => sum + each, 0);
      if (hasFallenBelow(0.4, { found, answered: 10 * latest.length })) {
        stopped += 1;
        break;
      }
    }
  }
  return stopped;
}
