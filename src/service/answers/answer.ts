import { z } from 'zod';
import { readJson, readRequestId } from './exact-json.ts';
import type { Endpoint, ServiceFailure } from '../failures/failure.ts';
import { errorOfSuccess, mapFailure, mapPartial } from '../failures/map-failure.ts';
import type { HttpAnswer } from '../transport.ts';

/** A valid answer with a success status. */
interface ReadAnswer<Data> {
  readonly data: Data;
  readonly requestId: string | undefined;
  /** The service did not process all that was asked for, although the answer has people or a bill. */
  readonly partial: ServiceFailure | undefined;
}

/**
 * Reads the answer of a call with the schema of its operation. Pure.
 *
 * @throws ServiceFailure for a status other than success, for a success that is a refusal, and for an invalid
 *   body
 */
export function readAnswer<Schema extends z.ZodType>(
  answer: HttpAnswer,
  endpoint: Endpoint,
  schema: Schema,
): ReadAnswer<z.output<Schema>> {
  const value = isSuccess(answer.status) ? readJson(answer.body) : undefined;
  const parsed = schema.safeParse(value);
  const error = errorOfSuccess(value);
  if (value === undefined || !parsed.success || error === 'refusal') throw mapFailure(answer, endpoint);
  return {
    data: parsed.data,
    requestId: readRequestId(value),
    partial: error === 'partial' ? mapPartial(answer, endpoint) : undefined,
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Fields of the wire. Any may be null or missing; a wrong type counts as missing. */
export function described<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(undefined);
}

export const text = described(z.string());
/** A number, also as a text of its digits: at most 15, which a float has exactly. */
const numeric = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number),
]);
export const whole = described(numeric.pipe(z.int()));
export const count = described(numeric.pipe(z.int().nonnegative()));
export const flag = described(z.boolean());
export const list = described(z.custom<readonly unknown[]>(Array.isArray));
export const map = described(
  z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
);
