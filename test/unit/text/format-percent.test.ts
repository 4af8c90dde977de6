import { expect, it } from 'vitest';
import { formatPercent, formatShares } from '../../../src/domain/text/format-percent.ts';

it.each([
  [1, 3, '33.3 %'],
  [999_999, 1_000_000, '99.9 %'],
  [7, 7, '100.0 %'],
  [0, 0, '–'],
])('formatPercent(%i, %i) rounds down: %s', (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});

it('formatPercent() keeps every tenth of a percent from 0 to 1', () => {
  for (let tenths = 0; tenths <= 1_000; tenths += 1)
    expect(formatPercent(tenths / 1_000)).toBe(`${(tenths / 10).toFixed(1)} %`);
});

it('formatShares() adds up to 100.0 %, and is 0.0 % of no row', () => {
  expect(formatShares([278, 13, 4, 5])).toEqual(['92.7 %', '4.3 %', '1.3 %', '1.7 %']);
  expect(formatShares([1, 1, 1])).toEqual(['33.4 %', '33.3 %', '33.3 %']);
  expect(formatShares([0, 7])).toEqual(['0.0 %', '100.0 %']);
});
