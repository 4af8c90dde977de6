import { describe, expect, it } from 'vitest';
import { expectedCredits, minimumCredits, worstCaseCredits } from '../../../src/domain/money/credit-rules.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';

describe('worstCaseCredits', () => {
  it.each([
    [{}, 1],
    [{ reveal: ['email'] }, 1],
    [{ reveal: ['phone'] }, 9],
    [{ reveal: ['email', 'phone'], waterfall: [] }, 9],
    [{ waterfall: ['email'], maxCreditsPerPerson: wholeCredits(20) }, 20],
    [{ reveal: ['phone'], waterfall: ['phone'], maxCreditsPerPerson: wholeCredits(3) }, 9],
  ])('of %o follows the price table', (ask, credits) => {
    expect(worstCaseCredits(ask)).toBe(wholeCredits(credits));
  });

  it('does not guess the price of a waterfall', () => {
    expect(() => worstCaseCredits({ waterfall: ['phone'] })).toThrow('has no maximum per person');
  });
});

describe('expectedCredits and minimumCredits', () => {
  it.each([{}, { reveal: ['phone'] }, { waterfall: ['email'], maxCreditsPerPerson: wholeCredits(5) }])(
    'of %o lie in order below the worst case',
    (ask) => {
      expect(minimumCredits(ask)).toBe(0n);
      expect(expectedCredits(ask)).toBeGreaterThan(0n);
      expect(expectedCredits(ask)).toBeLessThanOrEqual(worstCaseCredits(ask));
    },
  );
});
