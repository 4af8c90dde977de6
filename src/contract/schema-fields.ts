import { z } from 'zod';

/**
 * The fields of an object that an interface describes: a schema with another field or type fails the compiler. Rows of
 * statements keep their interfaces, because a test compares their types with the database.
 */
export type Fields<Facts> = { readonly [Field in keyof Facts]-?: z.ZodType<Facts[Field]> };

/** Values of a schema as programs hold them before they are printed: times are of the class `Date`. */
export type Printed<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

type Immutable<Value> = Value extends Date
  ? Value
  : unknown extends Value
    ? Value
    : { readonly [Member in keyof Value]: Immutable<Value[Member]> };

export const count = z.int().nonnegative();

/** A decimal as text. */
export const decimal = z.string().regex(/^-?\d+(?:\.\d+)?$/);

/** A time as ISO 8601. */
export const timeText = z.iso.datetime({ offset: true });

/** A time that is printed as ISO 8601. */
export const time = z.codec(timeText, z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
