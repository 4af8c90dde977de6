/**
 * Formats a share for a person: `92.7 %`. Rounds half up to one decimal, also where shares then add up to 99.9 % or
 * 100.1 %: equal counts have equal shares. `–` if the whole is 0.
 *
 * @param part from 0 to `whole`
 */
export function formatPercent(part: number, whole = 1): string {
  if (whole === 0) return '–';
  const tenths = Math.floor((part * 1_000) / whole + 0.5 + tolerance);
  return `${(tenths / 10).toFixed(1)} %`;
}

/** Corrects floating point: 0.0005 × 1,000 need not be 0.5, and rounding down would lose a tenth. */
const tolerance = 1e-9;
