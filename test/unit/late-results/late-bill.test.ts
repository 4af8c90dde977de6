import { expect, it } from 'vitest';
import { lateBill, type PricedResults } from '../../../src/domain/late-results/expected-results.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';

/** @param brings people with values @param without people for whom nothing was found */
function results(brings: string, credits?: number, without = ''): PricedResults {
  return {
    covers: `${brings}${without}`.split(''),
    brings: brings.split(''),
    credits: credits === undefined ? undefined : wholeCredits(credits),
  };
}

it.each([
  ['adds the prices of different results', [results('a', 8), results('b', 16)], 24, true],
  ['counts the same results once, with the higher price', [results('a', 8), results('a', 9)], 9, true],
  [
    'counts a whole instead of cheaper parts',
    [results('a', 8), results('b', 8), results('ab', 16)],
    16,
    true,
  ],
  ['counts a whole of wholes once', [results('a', 8), results('ab', 16), results('abc', 24)], 24, true],
  ['doubts a whole that costs less than its parts', [results('a', 8), results('ab', 5)], 8, false],
  ['doubts deliveries that overlap in another way', [results('ab', 8), results('bc', 9)], 9, false],
  ['adds the price of a search that found nothing', [results('a', 8), results('', 1, 'b')], 9, true],
  ['doubts a search that another price can include', [results('', 1, 'b'), results('a', 9, 'b')], 9, false],
  [
    'needs no price of people for whom nothing was found',
    [results('a', 8), results('', undefined, 'b')],
    8,
    true,
  ],
  ['doubts results without a price', [results('a', 8), results('b')], 8, false],
])('lateBill() %s', (_, deliveries, credits, certain) => {
  expect(lateBill(deliveries)).toMatchObject({ credits: wholeCredits(credits), certain });
  expect(lateBill(deliveries.toReversed())).toEqual(lateBill(deliveries));
});

it('lateBill() terminates for many deliveries that contain each other', () => {
  const people = Array.from({ length: 120 }, (_, index) => String.fromCodePoint(97 + index));
  const nested = people.map((_, index) => results(people.slice(0, index).join(''), index));
  expect(lateBill(nested)).toMatchObject({ certain: true });
});
