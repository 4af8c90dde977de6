import { expect, it } from 'vitest';
import { halve } from '../../../src/domain/runs/batching.ts';

/** Sends groups to a service that refuses every group that contains the poisonous person. */
function narrowDown(people: readonly number[], poisonous: number): { calls: number; alone: number[] } {
  const groups = [[...people]];
  const alone: number[] = [];
  let calls = 0;
  for (let group = groups.shift(); group; group = groups.shift()) {
    calls += 1;
    if (!group.includes(poisonous)) continue;
    if (group.length === 1) alone.push(group[0]!);
    else groups.unshift(...halve(group));
  }
  return { calls, alone };
}

const ten = Array.from({ length: 10 }, (_, index) => index);

it('splitting a refused call keeps all people in their order', () => expect(halve(ten).flat()).toEqual(ten));

it.each(ten)(
  'splitting a refused call finds the one refused person at position %d within nine calls',
  (poisonous) => {
    const { calls, alone } = narrowDown(ten, poisonous);
    expect(alone).toEqual([poisonous]);
    expect(calls).toBeLessThanOrEqual(9);
  },
);
