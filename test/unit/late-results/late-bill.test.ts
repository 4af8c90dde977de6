import { expect, it } from 'vitest';
import { lateBill, type PricedPart } from '../../../src/domain/late-results/late-bill.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';

function part(brings: readonly string[], credits?: number, without: readonly string[] = []): PricedPart {
  const covers = [...brings, ...without];
  return { covers, brings, credits: credits === undefined ? undefined : wholeCredits(credits) };
}

it.each([
  ['different parts cost their sum', [part(['a'], 8), part(['b'], 16)], 24, true, 2],
  ['the same part told again costs the dearer price', [part(['a'], 8), part(['a'], 9)], 9, true, 1],
  ['a whole counts instead of cheaper parts', [part(['a'], 8), part(['a', 'b'], 16)], 16, true, 1],
  [
    'parts count instead of a cheaper whole',
    [part(['a'], 8), part(['b'], 8), part(['a', 'b'], 9)],
    16,
    true,
    2,
  ],
  ['a whole that brings more for less is in doubt', [part(['a'], 8), part(['a', 'b'], 5)], 8, false, 1],
  ['parts that overlap are in doubt', [part(['a', 'b'], 8), part(['b', 'c'], 9)], 9, false, 1],
  ['a search costs its price in addition', [part(['a'], 8), part([], 1, ['b'])], 9, true, 2],
  [
    'a whole counts instead of a part and a search',
    [part(['a'], 8), part([], 1, ['b']), part(['a'], 9, ['b'])],
    9,
    true,
    1,
  ],
  [
    'a part and a search count instead of a cheaper whole',
    [part(['a'], 8), part([], 1, ['b']), part(['a'], 8, ['b'])],
    9,
    true,
    2,
  ],
  [
    'the same part beside other searches costs the dearer price',
    [part(['a'], 9, ['b']), part(['a'], 8, ['c'])],
    9,
    true,
    1,
  ],
  [
    'a search that only a replaced part covers costs its price in addition',
    [part([], 1, ['b']), part(['a'], 9, ['b']), part(['a', 'c'], 16)],
    17,
    true,
    2,
  ],
  [
    'a search that a part covers counts once if the part counts instead of a cheaper whole',
    [part([], 1, ['b']), part(['a'], 9, ['b']), part(['a'], 8, ['c'])],
    9,
    true,
    1,
  ],
  ['a part without a price is in doubt', [part(['a'], 8), part(['b'])], 8, false, 1],
])('lateBill() computes %s', (_, parts, credits, certain, bodies) => {
  expect(lateBill(parts)).toMatchObject({ credits: wholeCredits(credits), certain, bodies });
});

it('lateBill() computes a bill of parts inside parts, each of which is inside two others', () => {
  const levels = Array.from({ length: 60 }, (_, level) => level);
  const below = (level: number): string[] =>
    levels.slice(0, level).flatMap((each) => [`a${each}`, `b${each}`]);
  const parts = levels.flatMap((level) =>
    ['a', 'b'].map((side) => part([...below(level), `${side}${level}`], 200 - level)),
  );
  expect(lateBill(parts)).toMatchObject({ certain: false });
});
