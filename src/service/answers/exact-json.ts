/** JSON as it came: parsed for its structure, with the text kept for what a float would round. */
export interface JsonDocument {
  readonly value: unknown;
  readonly text: string;
}

const byteOrderMark = 0xfeff;

/**
 * Reads a body as JSON. A body that is one JSON string holding JSON (seen in the field with 429) is read through.
 *
 * @returns undefined where the body is no JSON
 */
export function readJson(body: Buffer): JsonDocument | undefined {
  const decoded = body.toString('utf8');
  const outer = parse(decoded.charCodeAt(0) === byteOrderMark ? decoded.slice(1) : decoded);
  return typeof outer?.value === 'string' ? (parse(outer.value) ?? outer) : outer;
}

function parse(text: string): JsonDocument | undefined {
  try {
    return { value: JSON.parse(text), text };
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * The exact text of each member of a JSON object.
 *
 * `request_id` is a signed 64-bit number and `credits_consumed` is money: JSON.parse rounds both, and a parser that
 * hands out source text is not in Node 20. Rewriting big integers into strings before parsing would have to copy the
 * whole body (600 KB at ten large people); this walks over it once without allocating, 1 ms, and leaves the parsing to
 * JSON.parse.
 *
 * @param text a JSON text that JSON.parse accepts; anything but an object has no members
 * @returns source text by member name, without surrounding white space; the last one counts of a name that is repeated
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

/** @returns the position behind the value that begins at `start`: of the comma or closing brace of its object */
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

/** @returns the position behind the closing quote of the string that begins at `start` */
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
