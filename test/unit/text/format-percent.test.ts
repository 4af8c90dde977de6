import { expect, it } from 'vitest';
import { formatPercent } from '../../../src/domain/text/format.ts';

it.each([
  [1, 3, '33.3 %'],
  [43, 60, '71.7 %'],
  [58, 60, '96.7 %'],
  [5, 60, '8.3 %'],
  [1, 2_000, '0.1 %'],
  [7, 7, '100.0 %'],
  [0, 0, '–'],
])('formatPercent(%i, %i) rounds half up to one decimal: %s', (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});

it('formatPercent() keeps every tenth of a percent from 0 to 1', () => {
  for (let tenths = 0; tenths <= 1_000; tenths += 1)
    expect(formatPercent(tenths / 1_000)).toBe(`${(tenths / 10).toFixed(1)} %`);
});

it('formatPercent() rounds every half of a tenth up, also where floating point is just below the half', () => {
  for (let tenths = 0; tenths < 1_000; tenths += 1)
    expect(formatPercent((tenths + 0.5) / 1_000)).toBe(`${((tenths + 1) / 10).toFixed(1)} %`);
});
