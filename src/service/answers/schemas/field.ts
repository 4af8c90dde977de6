import { z } from 'zod';
import { boundedId } from '../../../domain/identity/identity-keys.ts';
import { listed } from '../../../domain/text/listed.ts';

/** A schema has at least the fields that the product reads. */
export type SchemaOf<Answered> = Readonly<Record<keyof Answered, z.ZodType> & Record<string, z.ZodType>>;

/**
 * Fields of the wire. "Any field may be null when the service has no value", and any may be missing.
 *
 * Fields that identify a person are checked: a wrong type is an error, because ignoring evidence could assign
 * a person's data to another person. Other documented fields are `described`: a wrong type counts as missing,
 * so that a paid person is not lost to the type of a title. Undocumented fields pass through unchanged.
 */
export const identifying = z.string().nullable().exactOptional();

export const personId = z.string().transform(boundedId).nullable().exactOptional();

/** An optional field; a wrong type counts as missing. */
export function described<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(undefined);
}

export const text = described(z.string());
/** A number, also as a text of its digits: at most 15, which a float has exactly. */
const numeric = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?(?=(?:\d\.?){1,15}$)\d+(?:\.\d+)?$/)
    .transform(Number),
]);
export const number = described(numeric);
export const whole = described(numeric.pipe(z.int()));
export const count = described(numeric.pipe(z.int().nonnegative()));
export const flag = described(z.boolean());
/** Always null in observed output, so its type is not known. */
export const unseen = z.unknown().optional();

/** Elements of lists are not checked: a person has hundreds of keywords, and checking each is slow. */
export const list = described(z.custom<readonly unknown[]>(Array.isArray));
/** Elements of another type are left out. */
export const checkedTexts = described(
  z.array(z.unknown()).transform((elements) => elements.filter((element) => typeof element === 'string')),
);
/** Elements of another type are undefined, so that the others keep their positions. */
export const objects = <Schema extends z.ZodType>(schema: Schema) => described(z.array(described(schema)));
export const map = described(
  z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
);

/** One schema for several fields, as the tables of the interface document list them. */
export function each<const List extends string, Schema extends z.ZodType>(
  names: List,
  schema: Schema,
): Record<Names<List>, Schema> {
  return Object.fromEntries(listed(names).map((name) => [name, schema])) as Record<Names<List>, Schema>;
}

type Names<List extends string> = List extends `${infer Name}, ${infer Rest}` ? Name | Names<Rest> : List;
