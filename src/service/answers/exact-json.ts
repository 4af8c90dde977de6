import { z } from 'zod';
import { parseCredits, type Credits } from '../../domain/money/decimal.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses a JSON body, also JSON in a JSON string (observed with 429). Undefined if the body is not JSON. U+FFFD
 * replaces NUL and lone surrogates, which PostgreSQL refuses. An integer `request_id` becomes exact text.
 */
export function readJson(body: Buffer): unknown {
  const outer = parse(body.toString('utf8').replace(/^\ufeff/, ''));
  return typeof outer === 'string' ? (parse(outer) ?? outer) : outer;
}

/** Pattern of escape sequences that produce a NUL or a lone surrogate. Nothing else in JSON can produce them. */
const unstorableEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/** An integer `request_id`, which JSON.parse would round. Quotes inside a string are escaped, so only members match. */
const integerId = /"request_id"\s*:\s*(-?\d+)(?=\s*[,}])/g;

/** Parses JSON as `readJson` does, without JSON in a string. Undefined if it is not JSON. */
function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.replaceAll(integerId, '"request_id":"$1"'));
    const isStorable = !text.includes('\\u') || !unstorableEscape.test(text);
    return isStorable ? value : storable(value, 0);
  } catch {
    return undefined;
  }
}

/** Maximum depth of nested values. Data of a person is never nested deeper. */
const deepest = 16;

/** Replaces NUL and lone surrogates in texts by U+FFFD, and levels deeper than `deepest` by null. */
function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\u0000', '\ufffd');
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepest) return null;
  if (Array.isArray(value)) return value.map((each) => storable(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([member, each]) => [storable(member, 0), storable(each, depth + 1)]),
  );
}

/** Returns a value without null, rounded numbers, and levels below `deepest`. Undefined if nothing is left. */
export function tidyJsonValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER ? undefined : value;
  if (value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (depth > deepest) return undefined;
  if (Array.isArray(value)) {
    // A list of texts is not checked further, because checking each of 2,300 keywords took a tenth of the time.
    if (typeof value[0] === 'string') return value;
    return value.map((each) => tidyJsonValue(each, depth + 1)).filter((each) => each !== undefined);
  }
  const object: Record<string, unknown> = {};
  for (const [member, each] of Object.entries(value)) {
    const taken = tidyJsonValue(each, depth + 1);
    if (taken !== undefined && member !== '__proto__') object[member] = taken;
  }
  return object;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a member of any object or list; undefined if there is none. */
export function memberOf(container: unknown, member: string | number): unknown {
  return typeof container === 'object' && container !== null
    ? (container as Readonly<Record<string | number, unknown>>)[member]
    : undefined;
}

/** Why an answer has no usable price. The reservation of the call then stays. */
export type CreditsProblem = 'absent' | 'unreadable' | 'too-large';

/** Lowest number that is too large for credits. The database column has fourteen digits before the decimal point. */
const firstTooLarge = 1e14;

/** Reads credits with six exact decimals, or a problem. A float has 15 exact digits, and a price has fewer. */
export function readCredits(value: unknown): {
  readonly credits: Credits | undefined;
  readonly problem: CreditsProblem | undefined;
} {
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  const isDecimal = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  const credits = isDecimal ? (parseCredits(text) ?? withoutFloatNoise(Number(text))) : undefined;
  return { credits, problem: credits === undefined ? problemOf(value, text) : undefined };
}

/** Explains why a value is no usable price. */
function problemOf(value: unknown, text: string): CreditsProblem {
  if (value === undefined || value === null) return 'absent';
  return Number(text) >= firstTooLarge ? 'too-large' : 'unreadable';
}

/** Removes the error of binary fractions, as in 0.30000000000000004. Undefined if more than such an error is left. */
function withoutFloatNoise(credits: number): Credits | undefined {
  const rounded = credits.toFixed(6);
  // The precision of larger numbers is close to this error.
  return credits < 1e6 && Math.abs(credits - Number(rounded)) < 1e-9 ? parseCredits(rounded) : undefined;
}

/**
 * Reads a request id from a result of `readJson`: in answers a signed 64-bit number, in deliveries a string or number.
 * The text is safe in a URL path and in PostgreSQL. Undefined if there is none.
 */
export function readRequestId(value: unknown): string | undefined {
  const id = memberOf(value, 'request_id');
  return typeof id === 'string' ? /^[\w.:-]{1,100}$/.exec(id.trim())?.[0] : undefined;
}

/** Schema of an optional field in JSON. Null, missing and wrong types all count as missing. */
export function lenient<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(undefined);
}

export const lenientText = lenient(z.string());
/** Schema of a number, or of a text with at most 15 digits, which a float can represent exactly. */
const numeric = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number),
]);
export const lenientInteger = lenient(numeric.pipe(z.int()));
export const lenientCount = lenient(numeric.pipe(z.int().nonnegative()));
export const lenientBoolean = lenient(z.boolean());
export const lenientList = lenient(z.custom<readonly unknown[]>(Array.isArray));
export const lenientObject = lenient(z.custom<JsonObject>(isJsonObject));
