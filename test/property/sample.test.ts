import { array, assert, nat, property } from 'fast-check';
import { expect, it } from 'vitest';
import { chooseSample } from '../../src/domain/runs/sample.ts';

const strata = array(nat(5_000), { maxLength: 12 }).map((sizes) =>
  sizes.map((size, index) => ({ name: `stratum ${index}`, size })),
);

it('a sample has the requested number of people, or all of them, and no person twice', () => {
  assert(
    property(strata, nat(6_000), (all, people) => {
      const chosen = chooseSample(all, people);
      const total = all.reduce((sum, { size }) => sum + size, 0);
      const places = [...chosen].flatMap(([name, each]) => each.map((place) => `${name} ${place}`));
      expect(places).toHaveLength(Math.min(people, total));
      expect(new Set(places).size).toBe(places.length);
      for (const { name, size } of all)
        expect(chosen.get(name)!.every((place) => place >= 1 && place <= size)).toBe(true);
    }),
  );
});

it('a sample has the share of every stratum, to less than one person', () => {
  assert(
    property(strata, nat(6_000), (all, people) => {
      const chosen = chooseSample(all, people);
      const total = all.reduce((sum, { size }) => sum + size, 0);
      for (const { name, size } of all) {
        const share = total === 0 ? 0 : (Math.min(people, total) * size) / total;
        expect(Math.abs(chosen.get(name)!.length - share)).toBeLessThan(1);
      }
    }),
  );
});

it('a sample is spread over the whole stratum', () => {
  expect(chooseSample([{ name: 'all', size: 1_000 }], 4).get('all')).toEqual([126, 376, 626, 876]);
});
