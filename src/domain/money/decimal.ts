import { formatNumber } from '../text/format.ts';

/** Credits as a whole number of millionths. Prices can be fractional; PostgreSQL stores numeric(20, 6). */
export type Credits = bigint;

const scale = 1_000_000n;

/**
 * Reads a decimal number of credits: `12`, `0.25`, `1e2`.
 *
 * @returns millionths; undefined if the text is no finite number, is negative, has more than six decimals (or more
 *   than 40 with zeros, which would take long to read), or exceeds numeric(20, 6)
 */
export function parseCredits(text: string): Credits | undefined {
  const match = /^\s*(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?\s*$/.exec(text);
  if (!match) return undefined;
  const digits = match[1]! + (match[2] ?? '');
  const exponent = Number(match[3] ?? 0) - (match[2]?.length ?? 0) + 6;
  let value = BigInt(digits);
  if (exponent >= 0) {
    if (exponent > 30) return value === 0n ? 0n : undefined;
    value *= 10n ** BigInt(exponent);
  } else {
    const divisor = 10n ** BigInt(-exponent);
    if (value % divisor !== 0n) return undefined;
    value /= divisor;
  }
  return value < 10n ** 20n ? value : undefined;
}

/** Reads a decimal of the product, perhaps negative. @throws Error for other text: as 0, it would hide credits */
export function parseStoredCredits(text: string): Credits {
  const isNegative = text.startsWith('-');
  const credits = parseCredits(isNegative ? text.slice(1) : text);
  if (credits === undefined) throw new Error(`"${text}" is no number of credits`);
  return isNegative ? -credits : credits;
}

/** Converts whole credits to millionths of a credit. */
export function creditsFromWhole(count: number): Credits {
  return BigInt(count) * scale;
}

/** Formats credits as the shortest exact decimal, `12` or `0.25`, for output and for PostgreSQL. */
export function formatCredits(value: Credits): string {
  const sign = value < 0n ? '-' : '';
  const magnitude = value < 0n ? -value : value;
  const fraction = (magnitude % scale).toString().padStart(6, '0').replace(/0+$/, '');
  return `${sign}${magnitude / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Formats a budget's limit for display, with grouped digits: `1,480`. @param none text for null */
export function formatLimit(limit: string | null, none = 'no limit'): string {
  return limit === null ? none : formatNumber(limit);
}

/** Formats the price of one item, rounded to hundredths: `4.20`. A price that would round to 0 is not rounded. */
export function formatPrice(decimal: string): string {
  const hundredth = parseStoredCredits('0.01');
  const exact = parseStoredCredits(decimal);
  const hundredths = (exact + hundredth / 2n) / hundredth;
  if (hundredths === 0n && exact > 0n) return formatNumber(decimal);
  return formatNumber(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`);
}
