import { z } from 'zod';

/** Any field of a record may be null when the service has no value. */
export const text = z.string().nullable();
export const flag = z.boolean().nullable();
export const number = z.number().nullable();
export const whole = z.int().nullable();
export const texts = z.array(z.string()).nullable();
export const list = z.array(z.unknown()).nullable();
export const map = z.record(z.string(), z.unknown()).nullable();
export const time = z.string().nullable().meta({ description: 'ISO 8601' });

/** Always null in the output of the interface document, which shows no type. */
export const unseen = z.null();

/** The same schema for several names. */
export function each<Name extends string, Shape extends z.ZodType>(
  names: readonly Name[],
  shape: Shape,
): Record<Name, Shape> {
  return Object.fromEntries(names.map((name) => [name, shape])) as Record<Name, Shape>;
}
