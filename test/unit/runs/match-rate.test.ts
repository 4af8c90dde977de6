import { expect, it } from 'vitest';
import { hasFallenBelow, matchRate } from '../../../src/domain/runs/match-rate.ts';

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

it('the match rate is unknown before the first answer', () => {
  expect(matchRate({ found: 0, answered: 0 })).toBeUndefined();
});

it('the quality gate does not judge a few people, however low their match rate', () => {
  expect(hasFallenBelow(0.4, { found: 0, answered: 99 })).toBe(false);
});

it('the quality gate pauses a run when the match rate of the latest people falls', () => {
  expect(hasFallenBelow(0.4, { found: 20, answered: 100 })).toBe(true);
  expect(hasFallenBelow(0.4, { found: 35, answered: 100 })).toBe(false);
});
