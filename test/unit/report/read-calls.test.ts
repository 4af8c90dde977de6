import { expect, it } from 'vitest';
import { bucketSizeFor } from '../../../src/report/figures/read-calls.ts';

it.each([
  [0, 1],
  [59, 1],
  [60, 5],
  [3_600, 300],
  [100 * 604_800, 1_209_600],
])('bucketSizeFor(%i) chooses buckets of %i seconds', (seconds, size) => {
  expect(bucketSizeFor(seconds)).toBe(size);
});

it('bucketSizeFor() never draws more than 60 buckets', () => {
  for (let seconds = 1; seconds < 10 ** 9; seconds *= 3)
    expect(seconds / bucketSizeFor(seconds)).toBeLessThanOrEqual(60);
});
