import { expect, it } from 'vitest';
import { totalLateBill, type PricedResults } from '../../../src/domain/late-results/expected-results.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';

/** @param brings one letter per person with values @param without one letter per person without values */
function results(brings: string, credits?: number, without = ''): PricedResults {
  return {
    covers: `${brings}${without}`.split(''),
    brings: brings.split(''),
    credits: credits === undefined ? undefined : creditsFromWhole(credits),
  };
}

it.each([
  ['adds the prices of different results', [results('a', 8), results('b', 16)], 24, true],
  ['counts the same results once, with the higher price', [results('a', 8), results('a', 9)], 9, true],
  [
    'uses the price of a combined delivery in place of its cheaper parts',
    [results('a', 8), results('b', 8), results('ab', 16)],
    16,
    true,
  ],
  [
    'uses the price of the largest of three nested deliveries',
    [results('a', 8), results('ab', 16), results('abc', 24)],
    24,
    true,
  ],
  [
    'is uncertain if a combined delivery costs less than one of its parts',
    [results('a', 8), results('ab', 5)],
    8,
    false,
  ],
  ['is uncertain if two deliveries overlap only partly', [results('ab', 8), results('bc', 9)], 9, false],
  ['adds the price of a search that found nothing', [results('a', 8), results('', 1, 'b')], 9, true],
  [
    'is uncertain if another price may include a search without results',
    [results('', 1, 'b'), results('a', 9, 'b')],
    9,
    false,
  ],
  ['needs no price for people without results', [results('a', 8), results('', undefined, 'b')], 8, true],
  ['is uncertain if results have no price', [results('a', 8), results('b')], 8, false],
])('totalLateBill() %s', (_, deliveries, credits, certain) => {
  expect(totalLateBill(deliveries)).toMatchObject({ credits: creditsFromWhole(credits), certain });
  expect(totalLateBill(deliveries.toReversed())).toEqual(totalLateBill(deliveries));
});

it('totalLateBill() terminates for 120 nested deliveries', () => {
  const people = Array.from({ length: 120 }, (_, index) => String.fromCodePoint(97 + index));
  const nested = people.map((_, index) => results(people.slice(0, index).join(''), index));
  expect(totalLateBill(nested)).toMatchObject({ certain: true });
});
