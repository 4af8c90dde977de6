import { expect, it } from 'vitest';
import {
  assumedCreditsPerPerson,
  describeAssumedPrice,
  expectedCreditsFromHistory,
  worstCaseCredits,
} from '../../../src/domain/money/credit-rules.ts';
import { parseCredits, creditsFromWhole } from '../../../src/domain/money/decimal.ts';

it.each([
  [{}, 1],
  [{ reveal: ['email'] }, 1],
  [{ reveal: ['phone'] }, 9],
  [{ reveal: ['email', 'phone'], waterfall: [] }, 9],
  [{ waterfall: ['email'], maxCreditsPerPerson: creditsFromWhole(20) }, 20],
  [{ reveal: ['phone'], waterfall: ['phone'], maxCreditsPerPerson: creditsFromWhole(3) }, 9],
])('worstCaseCredits() of %o follows the price table', (ask, credits) => {
  expect(worstCaseCredits(ask)).toBe(creditsFromWhole(credits));
});

it('worstCaseCredits() does not estimate the price of a waterfall', () => {
  expect(() => worstCaseCredits({ waterfall: ['phone'] })).toThrow('has no maximum per person');
});

it.each([{}, { reveal: ['phone'] }, { waterfall: ['email'], maxCreditsPerPerson: creditsFromWhole(5) }])(
  'assumedCreditsPerPerson() of %o: low, expected and high ascend between 0 and the worst case',
  (ask) => {
    const { low, expected, high } = assumedCreditsPerPerson(ask);
    expect(low).toBeGreaterThan(0n);
    expect(expected).toBeGreaterThan(low);
    expect(high).toBeGreaterThanOrEqual(expected);
    expect(worstCaseCredits(ask)).toBeGreaterThanOrEqual(high);
  },
);

it.each([
  [{}, '0.7'],
  [{ reveal: ['phone'] }, '3.1'],
])('assumedCreditsPerPerson() of %o follow the price table', (ask, expected) => {
  expect(assumedCreditsPerPerson(ask).expected).toBe(parseCredits(expected));
});

it('describeAssumedPrice() states the assumed share of people found and of people with a mobile phone', () => {
  expect(describeAssumedPrice({})).toBe(
    'assumed, because no settled call had the same options: 70% (50 to 90%) of people are found',
  );
  expect(describeAssumedPrice({ reveal: ['phone'] })).toBe(
    'assumed, because no settled call had the same options: 70% (50 to 90%) of people are found, ' +
      '30% (15 to 50%) have a mobile phone',
  );
});

const history = { perPerson: creditsFromWhole(2), deviation: 0.5 };

it('expectedCreditsFromHistory() gives a narrower range after 200 past calls than after 4', () => {
  const few = expectedCreditsFromHistory({ ...history, calls: 4 }, { people: 40, calls: 4 });
  const many = expectedCreditsFromHistory({ ...history, calls: 200 }, { people: 40, calls: 4 });
  expect(few.expected).toBe(creditsFromWhole(80));
  expect(few.high - few.low).toBeGreaterThan(many.high - many.low);
  expect(many.low).toBeLessThan(creditsFromWhole(80));
});

it('expectedCreditsFromHistory() is never below zero', () => {
  expect(
    expectedCreditsFromHistory({ ...history, deviation: 90, calls: 2 }, { people: 10, calls: 1 }).low,
  ).toBe(0n);
});
