import { expect, it } from 'vitest';
import { formatPrice } from '../../../src/domain/money/decimal.ts';

it.each([
  ['1.8405', '1.84'],
  ['1.845', '1.85'],
  ['8', '8.00'],
  ['1234.5', '1,234.50'],
  ['0.000004', '0.000004'],
  ['0', '0.00'],
])('formatPrice(%s) is %s: rounded to hundredths, but a small price not to 0', (exact, text) => {
  expect(formatPrice(exact)).toBe(text);
});
