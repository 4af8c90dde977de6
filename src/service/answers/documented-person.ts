import { endOfString, memberOf } from './exact-json.ts';
import { accountSchema, organizationSchema } from './schemas/organization.ts';
import { contactEmailSchema, contactSchema, employmentSchema, personSchema } from './schemas/person.ts';

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
  contact: shape(contactSchema, { contact_emails: shape(contactEmailSchema) }),
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
 * @param person as the schema reads an element of `matches`
 * @param exact the same element by `readExactMatches`
 */
export function documentedPerson(person: object, exact?: unknown): WireObject {
  return pick(person, exact, personShape, 0);
}

/**
 * Names the documented members that the schema left out because of their types, such as `contact.email`: no
 * values and no positions in lists.
 *
 * @param element an element of `matches` as it came
 * @param person the same as the schema reads it
 */
export function unreadFields(element: unknown, person: object): string[] {
  return [...new Set(unreadMembers(element, person, personShape, ''))];
}

function unreadMembers(came: unknown, read: unknown, { members, nested }: Shape, prefix: string): string[] {
  return members.flatMap((member) => {
    const [value, taken] = [memberOf(came, member), memberOf(read, member)];
    const name = `${prefix}${member}`;
    const known = nested[member];
    if (taken === undefined || taken === null) return saysNothing(value) ? [] : [name];
    if (!Array.isArray(value) || !Array.isArray(taken))
      return known ? unreadMembers(value, taken, known, `${name}.`) : [];
    const lacksElement = taken.length < value.length || taken.includes(undefined);
    return [
      ...(lacksElement ? [name] : []),
      ...(known ? taken.flatMap((each, at) => unreadMembers(value[at], each, known, `${name}.`)) : []),
    ];
  });
}

/** Some services write an empty value of another type for null. */
function saysNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false;
}

function pick(value: object, exact: unknown, { members, nested }: Shape, depth: number): WireObject {
  const picked: Record<string, WireValue> = {};
  for (const member of members) {
    const tidied = tidy(memberOf(value, member), memberOf(exact, member), depth + 1, nested[member]);
    if (tidied !== null) picked[member] = tidied;
  }
  return picked;
}

function tidy(value: unknown, exact: unknown, depth: number, known?: Shape): WireValue {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number') return exactOf(value, exact);
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth > deepest) return null;
  if (Array.isArray(value))
    return value
      .map((each, index) => tidy(each, memberOf(exact, index), depth + 1, known))
      .filter((each) => each !== null);
  if (known) return pick(value, exact, known, depth);
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, each]) => {
      const tidied = tidy(each, memberOf(exact, member), depth + 1);
      return tidied === null ? [] : [[storable(member), tidied]];
    }),
  );
}

function exactOf(value: number, exact: unknown): WireValue {
  if (!Number.isFinite(value)) return null;
  if (typeof exact !== 'string' || !exactNumber.test(exact)) return value;
  return exact.length > longestNumber ? null : exact;
}
/** jsonb refuses NUL and lone surrogates. */
function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\u0000')
    ? text
    : text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

const number = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?`;
/** A marked number: its digits after a NUL, which no stored text contains. */
const exactNumber = new RegExp(`^\\0${number}$`);
const exactNumbers = new RegExp(String.raw`"\\u0000(${number})"`, 'g');

/**
 * The elements of `matches`, with the numbers marked that a float would round.
 *
 * @param source JSON source text of the member `matches`
 * @returns undefined if no number would be rounded
 */
export function readExactMatches(source: string): readonly unknown[] | undefined {
  // Fast path for nearly every answer: only identifiers, which are strings, have so many digits.
  if (!/[:,[]\s*-?(?:[\d.]{16}|\d[\d.]*[eE])/.test(source)) return undefined;
  let rounded = false;
  const mark = (digits: string): string => {
    if (isExact(digits)) return digits;
    rounded = true;
    return JSON.stringify(`\0${digits}`);
  };
  // A pattern that also reads texts overflows the stack at a text of 9 MB.
  let marked = '';
  for (let at = 0; at < source.length;) {
    const quote = source.indexOf('"', at);
    const [start, end] = quote < 0 ? [source.length, source.length] : [quote, endOfString(source, quote)];
    marked += source.slice(at, start).replaceAll(/-?\d[\d.eE+-]*/g, mark) + source.slice(start, end);
    at = end;
  }
  if (!rounded) return undefined;
  const matches: unknown = JSON.parse(marked);
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
