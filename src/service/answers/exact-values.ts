import { parseCredits, type Credits } from '../../domain/money/decimal.ts';

/** Why an answer has no usable number of credits. The reservation is then held. */
export type CreditsProblem = 'absent' | 'negative' | 'not-a-number' | 'too-fine' | 'too-large';

/** The column has fourteen digits before the point. */
const firstTooLarge = 1e14;

export type ReadCredits =
  | { readonly credits: Credits; readonly problem?: never }
  | { readonly credits?: never; readonly problem: CreditsProblem };

/**
 * Reads `credits_consumed` from its source text. A decimal in a JSON string is exact too.
 *
 * @param source JSON source text of the member; undefined if it is missing
 */
export function readCredits(source: string | undefined): ReadCredits {
  if (source === undefined || source === 'null') return { problem: 'absent' };
  const text = unquoted(source);
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return { problem: 'not-a-number' };
  if (text.startsWith('-')) return { problem: 'negative' };
  const credits = parseCredits(text) ?? withoutFloatNoise(Number(text));
  if (credits !== undefined) return { credits };
  return { problem: Number(text) >= firstTooLarge ? 'too-large' : 'too-fine' };
}

/**
 * The price that a service has computed with binary fractions: 0.1 + 0.2 is 0.30000000000000004. Larger numbers are no
 * such price: their own distance from the next binary fraction comes near to the noise.
 *
 * @returns undefined if more than noise is behind the sixth decimal
 */
function withoutFloatNoise(credits: number): Credits | undefined {
  const rounded = credits.toFixed(6);
  return credits < 1e6 && Math.abs(credits - Number(rounded)) < 1e-9 ? parseCredits(rounded) : undefined;
}

/**
 * Reads a request id from its source text: a signed 64-bit number in answers, a string or a number in
 * deliveries.
 *
 * @returns exact text, safe in a URL path and in PostgreSQL; undefined if there is none
 */
export function readRequestId(source: string | undefined): string | undefined {
  if (source === undefined) return undefined;
  const text = unquoted(source);
  return source.startsWith('"')
    ? /^[\w.:-]{1,100}$/.exec(text)?.[0]
    : /^-?(?:0|[1-9]\d{0,40})$/.exec(text)?.[0];
}

function unquoted(source: string): string {
  return source.startsWith('"') ? String(JSON.parse(source)).trim() : source;
}
