import type { z } from 'zod';
import { memberSources, readJson } from './exact-json.ts';
import type { Endpoint, ServiceFailure } from '../failures/failure.ts';
import { errorOfSuccess } from '../failures/error-of-success.ts';
import { mapFailure, mapPartial } from '../failures/map-failure.ts';
import type { HttpAnswer } from '../transport.ts';

/** A valid answer with a success status. */
export interface ReadAnswer<Data> {
  readonly data: Data;
  /** Exact JSON source text of the top-level members. */
  readonly members: ReadonlyMap<string, string>;
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
  const json = isSuccess(answer.status) ? readJson(answer.body) : undefined;
  const parsed = json && schema.safeParse(json.value);
  const error = errorOfSuccess(json?.value);
  if (!parsed?.success || error === 'refusal') throw mapFailure(answer, endpoint);
  return {
    data: parsed.data,
    members: memberSources(json!.text),
    partial: error === 'partial' ? mapPartial(answer, endpoint) : undefined,
  };
}

/** The invalid fields, without their values, which zod's own messages can quote. */
export function explainIssues(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => {
      const field = issue.path.length === 0 ? 'the element' : issue.path.join('.');
      return issue.code === 'invalid_type'
        ? `${field} is no ${issue.expected}`
        : `${field} is not as described`;
    })
    .join('; ');
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
