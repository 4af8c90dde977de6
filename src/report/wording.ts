import { nounFor } from '../domain/text/counted.ts';
import { parseCredits } from '../domain/money/decimal.ts';

/** `12,345`: in every language that the report could be read in, a count is told from a decimal by its length. */
export function count(value: number): string {
  return grouped(String(value));
}

/** A decimal of credits as it is, with its whole part grouped: `1,150.25`. */
export function credits(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  return grouped(whole) + (fraction === undefined ? '' : `.${fraction}`);
}

/** To a hundredth of a credit, `4.20`, for prices of one thing; never shown as free where it is not. */
export function price(decimal: string): string {
  const hundredth = parseCredits('0.01')!;
  const exact = parseCredits(decimal) ?? 0n;
  const hundredths = (exact + hundredth / 2n) / hundredth;
  if (hundredths === 0n && exact > 0n) return credits(decimal);
  return credits(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`);
}

/** `92.7 %`, rounded down so that only all is 100 %; a dash where there is nothing to take a share of. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '–';
  const tenths = (BigInt(part) * 1_000n) / BigInt(whole);
  return `${tenths / 10n}.${tenths % 10n} %`;
}

/** `1h 5m`, `42s`. */
export function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const;
  const largest = units.findIndex(([, size]) => seconds >= size);
  if (largest === -1) return '0s';
  return units
    .slice(largest, largest + 2)
    .reduce<{ parts: string[]; rest: number }>(
      ({ parts, rest }, [unit, size]) => ({
        parts: [...parts, `${Math.floor(rest / size)}${unit}`],
        rest: rest % size,
      }),
      { parts: [], rest: seconds },
    )
    .parts.join(' ');
}

/** `2026-11-21 08:42:52 UTC` of an ISO 8601 time. */
export function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `not_found` → `not found`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A field of a contact as a person calls it. */
export function fieldName(field: string): string {
  if (field === 'linkedin_url') return 'LinkedIn profile';
  return field === 'title' ? 'job title' : words(field);
}

/** `1 call`, `1,200 calls`. */
export function counted(value: number, one: string, many?: string): string {
  return `${count(value)} ${nounFor(value, one, many)}`;
}

/** Control and format characters of a file's name: they could move a terminal's cursor or turn the line around. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}
