import { expect, it } from 'vitest';
import { formatCredits, parseCredits, parseStoredCredits } from '../../../src/domain/money/decimal.ts';

it.each([
  ['0', 0n],
  ['12', 12_000_000n],
  ['0.25', 250_000n],
  ['1.000000', 1_000_000n],
  ['1e2', 100_000_000n],
  [' 7 ', 7_000_000n],
  ['99999999999999.999999', 99_999_999_999_999_999_999n],
])('parseCredits() reads %o exactly', (text, credits) => {
  expect(parseCredits(text)).toBe(credits);
});

it.each(['', '-1', '0.0000001', '100000000000000', 'NaN', '1,5', '0x10', `1.${'0'.repeat(100)}`])(
  'parseCredits() refuses %o',
  (text) => {
    expect(parseCredits(text)).toBeUndefined();
  },
);

it.each(['0', '12', '0.25', '-3.5'])(
  'parseStoredCredits() reads %o, and formatCredits() writes it',
  (text) => {
    expect(formatCredits(parseStoredCredits(text))).toBe(text);
  },
);

it.each(['', '--1', 'NaN', '0.0000001'])('parseStoredCredits() throws for %o', (text) => {
  expect(() => parseStoredCredits(text)).toThrow('no number of credits');
});
