/** Corrects floating point: 0.7 × 1,000 need not be 700, and rounding down would lose a tenth. */
const tolerance = 1e-9;

/**
 * Formats a share for a person: `92.7 %`. Rounds down, so that only the whole is 100 %; `–` if the whole is 0.
 *
 * @param part from 0 to `whole`
 */
export function formatPercent(part: number, whole = 1): string {
  if (whole === 0) return '–';
  const tenths = Math.floor((part * 1_000) / whole + tolerance);
  return `${(tenths / 10).toFixed(1)} %`;
}

/**
 * Formats shares that add up to 100.0 %. Tenths that rounding down leaves over go to the parts that lost most.
 *
 * @param parts whole numbers
 */
export function formatShares(parts: readonly number[]): string[] {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  if (whole === 0) return parts.map(() => '–');
  const tenths = parts.map((part) => Math.floor((part * 1_000) / whole));
  const left = 1_000 - tenths.reduce((sum, each) => sum + each, 0);
  const byLoss = parts
    .map((part, at) => ({ at, lost: (part * 1_000) % whole }))
    .sort((one, other) => other.lost - one.lost);
  for (const { at } of byLoss.slice(0, left)) tenths[at]! += 1;
  return tenths.map((each) => `${(each / 10).toFixed(1)} %`);
}
