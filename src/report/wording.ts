import { formatNumber } from '../domain/text/format-number.ts';
import { storedCredits } from '../domain/money/decimal.ts';

/** A price of one item, rounded to hundredths, `4.20`. Unrounded if it would round to 0. */
export function price(decimal: string): string {
  const hundredth = storedCredits('0.01');
  const exact = storedCredits(decimal);
  const hundredths = (exact + hundredth / 2n) / hundredth;
  if (hundredths === 0n && exact > 0n) return formatNumber(decimal);
  return formatNumber(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`);
}

/** An ISO 8601 time as `2026-11-21 08:42:52 UTC`. */
export function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `not_found` → `not found`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** The display name of a contact's field. */
export function fieldName(field: string): string {
  if (field === 'linkedin_url') return 'LinkedIn profile';
  return field === 'title' ? 'job title' : words(field);
}
