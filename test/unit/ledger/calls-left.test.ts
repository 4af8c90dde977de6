import { expect, it } from 'vitest';
import { callsLeft, unlimitedCalls } from '../../../src/domain/rates/rate-limit.ts';

it.each([
  { limit: 600, used: 700, left: undefined, expected: 0 },
  { limit: 600, used: 20, left: undefined, expected: 580 },
  { limit: 600, used: 600, left: null, expected: 0 },
  { limit: 600, used: undefined, left: null, expected: undefined },
  { limit: 600, used: 20, left: 3, expected: 3 },
  { limit: null, used: 20, left: 0, expected: 0 },
  { limit: null, used: 20, left: null, expected: unlimitedCalls },
  { limit: undefined, used: 20, left: null, expected: unlimitedCalls },
  { limit: undefined, used: 20, left: undefined, expected: undefined },
])('callsLeft() reads limit $limit, used $used, left $left as $expected', ({ expected, ...window }) => {
  expect(callsLeft(window)).toBe(expected);
});
