import { describe, expect, it } from 'vitest';
import {
  assumedCredits,
  describeAssumption,
  experiencedCredits,
  worstCaseCredits,
} from '../../../src/domain/money/credit-rules.ts';
import { parseCredits, wholeCredits } from '../../../src/domain/money/decimal.ts';

it.each([
  [{}, 1],
  [{ reveal: ['email'] }, 1],
  [{ reveal: ['phone'] }, 9],
  [{ reveal: ['email', 'phone'], waterfall: [] }, 9],
  [{ waterfall: ['email'], maxCreditsPerPerson: wholeCredits(20) }, 20],
  [{ reveal: ['phone'], waterfall: ['phone'], maxCreditsPerPerson: wholeCredits(3) }, 9],
])('worstCaseCredits() of %o follows the price table', (ask, credits) => {
  expect(worstCaseCredits(ask)).toBe(wholeCredits(credits));
});

it('worstCaseCredits() does not estimate the price of a waterfall', () => {
  expect(() => worstCaseCredits({ waterfall: ['phone'] })).toThrow('has no maximum per person');
});

it.each([{}, { reveal: ['phone'] }, { waterfall: ['email'], maxCreditsPerPerson: wholeCredits(5) }])(
  'assumedCredits() of %o: low, expected and high ascend between 0 and the worst case',
  (ask) => {
    const { low, expected, high } = assumedCredits(ask);
    expect(low).toBeGreaterThan(0n);
    expect(expected).toBeGreaterThan(low);
    expect(high).toBeGreaterThanOrEqual(expected);
    expect(worstCaseCredits(ask)).toBeGreaterThanOrEqual(high);
  },
);

it.each([
  [{}, '0.7'],
  [{ reveal: ['phone'] }, '3.1'],
])('assumedCredits() of %o follow the price table', (ask, expected) => {
  expect(assumedCredits(ask).expected).toBe(parseCredits(expected));
});

it('describeAssumption() states the assumed share of people found and of people with a mobile phone', () => {
  expect(describeAssumption({})).toBe(
    'assumed, because no settled call had the same options: 70% (50 to 90%) of people are found',
  );
  expect(describeAssumption({ reveal: ['phone'] })).toBe(
    'assumed, because no settled call had the same options: 70% (50 to 90%) of people are found, ' +
      '30% (15 to 50%) have a mobile phone',
  );
});

describe('experiencedCredits()', () => {
  const history = { perPerson: wholeCredits(2), deviation: 0.5 };

  it('experiencedCredits() gives a narrower range after 200 past calls than after 4', () => {
    const few = experiencedCredits({ ...history, calls: 4 }, { people: 40, calls: 4 });
    const many = experiencedCredits({ ...history, calls: 200 }, { people: 40, calls: 4 });
    expect(few.expected).toBe(wholeCredits(80));
    expect(few.high - few.low).toBeGreaterThan(many.high - many.low);
    expect(many.low).toBeLessThan(wholeCredits(80));
  });

  it('experiencedCredits() is never below zero', () => {
    expect(experiencedCredits({ ...history, deviation: 90, calls: 2 }, { people: 10, calls: 1 }).low).toBe(
      0n,
    );
  });
});
