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

it('the quality gate does not pause a run before 100 people were answered', () => {
  expect(hasFallenBelow(0.4, { found: 0, answered: 99 })).toBe(false);
});

it('the quality gate of 40% pauses a run at 20 of 100 people found, but not at 35', () => {
  expect(hasFallenBelow(0.4, { found: 20, answered: 100 })).toBe(true);
  expect(hasFallenBelow(0.4, { found: 35, answered: 100 })).toBe(false);
});
