import { describe, expect, it } from 'vitest';
import { bucketSizeFor } from '../../../src/report/read-calls.ts';
import { count, credits, duration, price, share } from '../../../src/report/wording.ts';

describe('figures of the report', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1,000'],
    [1_234_567, '1,234,567'],
  ])('groups %i as %s', (value, shown) => {
    expect(count(value)).toBe(shown);
  });

  it('groups only the whole part of credits', () => {
    expect(credits('12345.123456')).toBe('12,345.123456');
  });

  it.each([
    ['1.8405', '1.84'],
    ['1.845', '1.85'],
    ['8', '8.00'],
    ['1234.5', '1,234.50'],
    ['0.000004', '0.000004'],
    ['0', '0.00'],
  ])('rounds a price of %s to %s', (exact, shown) => {
    expect(price(exact)).toBe(shown);
  });

  it.each([
    [1, 3, '33.3 %'],
    [999_999, 1_000_000, '99.9 %'],
    [7, 7, '100.0 %'],
    [0, 0, '–'],
  ])('shows %i of %i as %s: only all is 100', (part, whole, shown) => {
    expect(share(part, whole)).toBe(shown);
  });

  it.each([
    [0, '0s'],
    [59, '59s'],
    [3_600, '1h 0m'],
    [90_061, '1d 1h'],
  ])('shows %i seconds as %s', (seconds, shown) => {
    expect(duration(seconds)).toBe(shown);
  });
});

describe('the buckets of the calls', () => {
  it.each([
    [0, 1],
    [59, 1],
    [60, 5],
    [3_600, 300],
    [100 * 604_800, 1_209_600],
  ])('a run of %i seconds is drawn in buckets of %i', (seconds, size) => {
    expect(bucketSizeFor(seconds)).toBe(size);
  });

  it('are never more than a page can show', () => {
    for (let seconds = 1; seconds < 10 ** 9; seconds *= 3)
      expect(seconds / bucketSizeFor(seconds)).toBeLessThanOrEqual(60);
  });
});
