import { parseCredits, type Credits } from '../../domain/money/decimal.ts';

/** A JSON document: the parsed value, and the source for a number that JSON.parse rounds. */
export interface JsonDocument {
  /** Without NUL and lone surrogates, which PostgreSQL refuses. */
  readonly value: unknown;
  readonly text: string;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const byteOrderMark = 0xfeff;

/**
 * Reads a body as JSON. If the body is a JSON string that contains JSON (observed with 429), reads the inner
 * document.
 *
 * @returns undefined if the body is not JSON
 */
export function readJson(body: Buffer): JsonDocument | undefined {
  const decoded = body.toString('utf8');
  const outer = parse(decoded.charCodeAt(0) === byteOrderMark ? decoded.slice(1) : decoded);
  return typeof outer?.value === 'string' ? (parse(outer.value) ?? outer) : outer;
}

/** Only an escape can bring a NUL or a lone surrogate into a text. */
const unstorableEscape = /\\u(?:0000|[dD][89a-fA-F])/;

function parse(text: string): JsonDocument | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isStorable = !text.includes('\\u') || !unstorableEscape.test(text);
    return { value: isStorable ? value : storable(value, 0), text };
  } catch {
    return undefined;
  }
}

/** Deeper lists and objects are no data of a person. */
const deepest = 16;

function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\u0000', '\ufffd');
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepest) return null;
  if (Array.isArray(value)) return value.map((each) => storable(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([member, each]) => [storable(member, 0), storable(each, depth + 1)]),
  );
}

/**
 * A value of any type without null, without numbers that JSON.parse has rounded, and without deeper levels than a
 * person has.
 *
 * @returns undefined if nothing is left
 */
export function valueOf(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return isRounded(value) ? undefined : value;
  if (value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (depth > deepest) return undefined;
  if (Array.isArray(value)) {
    if (value.every((each) => typeof each === 'string')) return value;
    return value.map((each) => valueOf(each, depth + 1)).filter((each) => each !== undefined);
  }
  const object: Record<string, unknown> = {};
  for (const [member, each] of Object.entries(value)) {
    const taken = valueOf(each, depth + 1);
    if (taken !== undefined && member !== '__proto__') object[member] = taken;
  }
  return object;
}

function isRounded(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object or list of any value; undefined: there is none. */
export function memberOf(container: unknown, member: string | number): unknown {
  return typeof container === 'object' && container !== null
    ? (container as Readonly<Record<string | number, unknown>>)[member]
    : undefined;
}

/** Why an answer has no usable number of credits. The reservation is then held. */
export type CreditsProblem = 'absent' | 'negative' | 'not-a-number' | 'too-fine' | 'too-large';

/** The column has fourteen digits before the point. */
const firstTooLarge = 1e14;

type ReadCredits =
  | { readonly credits: Credits; readonly problem?: never }
  | { readonly credits?: never; readonly problem: CreditsProblem };

/**
 * Reads a number of credits, also from a text: six decimals are exact. A float has 15 digits exactly, and a price has
 * fewer.
 */
export function readCredits(value: unknown): ReadCredits {
  if (value === undefined || value === null) return { problem: 'absent' };
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  if (text === 'Infinity') return { problem: 'too-large' };
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
 * Reads the request id of an object: a signed 64-bit number in answers, a string or a number in deliveries.
 *
 * @returns exact text, safe in a URL path and in PostgreSQL; undefined if there is none
 */
export function readRequestId({ value, text }: JsonDocument): string | undefined {
  const id = memberOf(value, 'request_id');
  if (typeof id === 'string') return /^[\w.:-]{1,100}$/.exec(id.trim())?.[0];
  if (typeof id !== 'number') return undefined;
  const source = Number.isSafeInteger(id) ? String(id) : sourceOfId(text, id);
  return /^-?(?:0|[1-9]\d{0,40})$/.exec(source ?? '')?.[0];
}

const idMember = '"request_id"';

/** @param id as JSON.parse has rounded it */
function sourceOfId(text: string, id: number): string | undefined {
  // Quotes within a text are escaped, so that only a member has this name. If it stands once, no level needs counting.
  const at = text.indexOf(idMember);
  const source = /^\s*:\s*(-?\d+)/.exec(text.slice(at + idMember.length, at + 200))?.[1];
  const isOnly = Number(source) === id && !text.includes(idMember, at + idMember.length);
  return isOnly ? source : memberSources(text).get('request_id');
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * The exact source text of each member of a JSON object, because Node 20 has no parser that returns source text. One
 * pass without allocation takes 1 ms for 600 KB.
 *
 * @param text a text that JSON.parse accepts; only an object has members
 * @returns source text by member name, without surrounding white space; for a repeated name the last one
 */
export function memberSources(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== openBrace) return members;
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) === quote) {
    const nameEnd = endOfString(text, at);
    const name: string = JSON.parse(text.slice(at, nameEnd));
    const colon = skipSpace(text, nameEnd);
    const start = skipSpace(text, colon + 1);
    const end = endOfValue(text, start);
    members.set(name, text.slice(start, end).trimEnd());
    if (text.charCodeAt(end) !== comma) break;
    at = skipSpace(text, end + 1);
  }
  return members;
}

/** @returns the position after the value that begins at `start`: the comma or closing bracket after it */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at) - 1;
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        break;
      case closeBrace:
      case closeBracket:
        if (depth === 0) return at;
        depth -= 1;
        break;
      case comma:
        if (depth === 0) return at;
        break;
    }
  }
  return at;
}

/** @returns the position after the closing quote of the string that begins at `start` */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, position: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(position - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}
