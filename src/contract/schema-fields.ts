import { z } from 'zod';

/**
 * Forces a schema to have exactly the fields and types of an interface: any other schema does not compile. Rows of SQL
 * statements keep interfaces, because a test compares these with the database.
 */
export type SchemaFields<Facts> = { readonly [Field in keyof Facts]-?: z.ZodType<Facts[Field]> };

/** Type of a schema's values in memory, before they are printed. Times are `Date` objects. */
export type SchemaOutput<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

type Immutable<Value> = Value extends Date
  ? Value
  : unknown extends Value
    ? Value
    : { readonly [Member in keyof Value]: Immutable<Value[Member]> };

export const count = z.int().nonnegative();

export const textOrNull = z.string().nullable();

/** A decimal number as text. */
export const decimal = z.string().regex(/^-?\d+(?:\.\d+)?$/);

/** A time as ISO 8601 text. */
export const timeText = z.iso.datetime({ offset: true });

/** A time that is a `Date` in memory and ISO 8601 in JSON. */
export const time = z.codec(timeText, z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
