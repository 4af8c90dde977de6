import { accountSchema, organizationSchema } from './schemas/organization.ts';
import { contactEmailSchema, contactSchema, employmentSchema, personSchema } from './schemas/person.ts';

/** A JSON value. */
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

/**
 * The documented members of a person that have a value, ready for jsonb: without null, NUL and lone
 * surrogates. Other members remain only in the raw body.
 *
 * @param person as the schema reads an element of `matches`
 */
export function documentedPerson(person: object): WireObject {
  return pick(person, personShape, 0);
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

function memberOf(container: unknown, member: string): unknown {
  return typeof container === 'object' && container !== null
    ? (container as Readonly<Record<string, unknown>>)[member]
    : undefined;
}

function pick(value: object, { members, nested }: Shape, depth: number): WireObject {
  const picked: Record<string, WireValue> = {};
  for (const member of members) {
    const tidied = tidy(memberOf(value, member), depth + 1, nested[member]);
    if (tidied !== null) picked[member] = tidied;
  }
  return picked;
}

function tidy(value: unknown, depth: number, known?: Shape): WireValue {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth > deepest) return null;
  if (Array.isArray(value))
    return value.map((each) => tidy(each, depth + 1, known)).filter((each) => each !== null);
  if (known) return pick(value, known, depth);
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, each]) => {
      const tidied = tidy(each, depth + 1);
      return tidied === null ? [] : [[storable(member), tidied]];
    }),
  );
}

/** jsonb refuses NUL and lone surrogates. */
function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\u0000')
    ? text
    : text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
