import { accountSchema } from './schemas/account.ts';
import { contactSchema } from './schemas/contact.ts';
import { organizationSchema } from './schemas/organization.ts';
import { employmentSchema, personSchema } from './schemas/person.ts';

/** A JSON value. A number that a float would round is marked text (`readExactMatches`). */
export type WireValue = null | boolean | number | string | readonly WireValue[] | WireObject;
export interface WireObject {
  readonly [member: string]: WireValue;
}

/** The documented members of an object, and of the objects and lists of objects in it. */
interface Shape {
  readonly members: readonly string[];
  readonly nested: Readonly<Record<string, Shape>>;
}

const shape = (schema: { shape: object }, nested: Shape['nested'] = {}): Shape => ({
  members: Object.keys(schema.shape),
  nested,
});

const personShape = shape(personSchema, {
  employment_history: shape(employmentSchema),
  contact: shape(contactSchema),
  organization: shape(organizationSchema),
  account: shape(accountSchema),
});

/** Deeper lists and objects are no data of a person. */
const deepest = 12;
/** Longer numbers are meaningless, and PostgreSQL would store each digit. */
const longestNumber = 40;

/**
 * The documented members of a person that have a value, ready for jsonb: without null, NUL and lone
 * surrogates. Other members remain only in the raw body.
 *
 * @param element an element of `matches`, parsed by JSON.parse or by `readExactMatches`
 */
export function documentedPerson(element: object): WireObject {
  return pick(element as Readonly<Record<string, unknown>>, personShape, 0);
}

function pick(
  value: Readonly<Record<string, unknown>>,
  { members, nested }: Shape,
  depth: number,
): WireObject {
  const picked: Record<string, WireValue> = {};
  for (const member of members) {
    if (!Object.hasOwn(value, member)) continue;
    const tidied = tidy(value[member], depth + 1, nested[member]);
    if (tidied !== null) picked[member] = tidied;
  }
  return picked;
}

function tidy(value: unknown, depth: number, known?: Shape): WireValue {
  if (typeof value === 'string') return exactNumber.test(value) ? keepNumber(value) : storable(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object') return null;
  if (value === null || depth > deepest) return null;
  if (Array.isArray(value))
    return value.map((each) => tidy(each, depth + 1, known)).filter((each) => each !== null);
  if (known) return pick(value as Readonly<Record<string, unknown>>, known, depth);
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, each]) => {
      const tidied = tidy(each, depth + 1);
      return tidied === null ? [] : [[storable(member), tidied]];
    }),
  );
}

function keepNumber(marked: string): string | null {
  return marked.length > longestNumber ? null : marked;
}

/** jsonb refuses NUL and lone surrogates. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

const number = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?`;
/** A marked number: its digits after a NUL, which no stored text contains. */
const exactNumber = new RegExp(`^\\0${number}$`);
const exactNumbers = new RegExp(String.raw`"\\u0000(${number})"`, 'g');

/**
 * The elements of `matches`, with the numbers marked that a float would round.
 *
 * @param body an answer that is known to be valid
 * @returns undefined if no number of the body would be rounded
 */
export function readExactMatches(body: Buffer): readonly unknown[] | undefined {
  const text = body.toString('utf8');
  // Fast path for nearly every body: only identifiers, which are strings, have so many digits.
  if (!/[:,[\s]-?(?:[\d.]{16}|\d[\d.]*[eE])/.test(text)) return undefined;
  let rounded = false;
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    if (token.startsWith('"') || isExact(token)) return token;
    rounded = true;
    return JSON.stringify(`\0${token}`);
  });
  if (!rounded) return undefined;
  const { matches } = JSON.parse(marked) as { matches?: unknown };
  return Array.isArray(matches) ? matches : undefined;
}

function isExact(source: string): boolean {
  const digits = source
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
  return digits.length <= 15 && !/[eE]/.test(source);
}

/** JSON text of a value, with marked numbers as numbers. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(exactNumbers, '$1');
}
