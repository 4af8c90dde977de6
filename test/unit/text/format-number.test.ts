import { expect, it } from 'vitest';
import { formatNumber } from '../../../src/domain/text/format.ts';

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [1_234_567, '1,234,567'],
  ['12345.123456', '12,345.123456'],
])('formatNumber(%s) groups the whole part: %s', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
