/** The median of values, or another quantile: `at` is a share from 0 to 1. */
export function quantile(values: readonly number[], at = 0.5): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}
