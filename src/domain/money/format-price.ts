import { formatNumber } from '../text/format-number.ts';
import { storedCredits } from './decimal.ts';

/** A price of one item, rounded to hundredths, `4.20`. Unrounded if it would round to 0. */
export function formatPrice(decimal: string): string {
  const hundredth = storedCredits('0.01');
  const exact = storedCredits(decimal);
  const hundredths = (exact + hundredth / 2n) / hundredth;
  if (hundredths === 0n && exact > 0n) return formatNumber(decimal);
  return formatNumber(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`);
}
