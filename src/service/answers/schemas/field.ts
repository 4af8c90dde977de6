import { z } from 'zod';

/**
 * Fields of the wire. "Any field may be null when the service has no value", and any may be missing.
 *
 * A field that tells who a person is is checked: another type is an error, because evidence that is passed over can
 * give a person to another person. Any other field that the interface document names is only described: another type
 * reads as missing, because a person who is paid for is not lost to the type of a title. Fields that it does not name
 * pass through untouched.
 */
export const read = {
  text: z.string().nullable().exactOptional(),
  flag: z.boolean().nullable().exactOptional(),
};

/** Describes a field without relying on it. */
export function described<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(undefined);
}

export const text = described(z.string());
export const number = described(z.number());
export const whole = described(z.int());
export const flag = described(z.boolean());
/** Null in all observed output: its type is not known. */
export const unseen = z.unknown().optional();

/**
 * Lists are described by their being lists: looking at each of some hundred keywords a person would cost more than it
 * tells.
 */
export const list = <Element>() => described(z.custom<readonly Element[]>(Array.isArray));
export const texts = list<string>();
export const map = <Value>() =>
  described(
    z.custom<Readonly<Record<string, Value>>>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    ),
  );
