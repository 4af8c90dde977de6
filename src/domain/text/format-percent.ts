/** A share that is this close below a tenth of a percent is that tenth: 0.7 × 1,000 need not be 700. */
const tolerance = 1e-9;

/**
 * A share for people: `92.7 %`. Rounded down, so that only the whole is 100 %; `–` of nothing.
 *
 * @param part from 0 to `whole`
 */
export function formatPercent(part: number, whole = 1): string {
  if (whole === 0) return '–';
  const tenths = Math.floor((part * 1_000) / whole + tolerance);
  return `${(tenths / 10).toFixed(1)} %`;
}
