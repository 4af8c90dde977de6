/** A group of people with similar known data. */
export interface Stratum {
  readonly name: string;
  readonly size: number;
}

/**
 * Chooses a representative sample: from each stratum in proportion to its size (largest remainder method),
 * evenly spread over the order of the file. The same strata give the same sample.
 *
 * @param people size of the sample; all people if there are fewer
 * @returns positions within each stratum, from 1, ascending
 */
export function chooseSample(strata: readonly Stratum[], people: number): Map<string, number[]> {
  const total = strata.reduce((sum, { size }) => sum + size, 0);
  const wanted = Math.min(people, total);
  const shares = strata.map(({ name, size }) => {
    const exact = total === 0 ? 0 : (wanted * size) / total;
    return { name, size, count: Math.floor(exact), remainder: exact - Math.floor(exact) };
  });
  const given = shares.reduce((sum, { count }) => sum + count, 0);
  const neediest = shares.toSorted(
    (one, other) => other.remainder - one.remainder || (one.name < other.name ? -1 : 1),
  );
  for (const share of neediest.slice(0, wanted - given)) share.count += 1;
  return new Map(shares.map(({ name, size, count }) => [name, spread(size, count)]));
}

/** `count` positions from 1 to `size`, each in the middle of its part. */
function spread(size: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor(((2 * index + 1) * size) / (2 * count)) + 1);
}
