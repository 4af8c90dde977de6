import { z } from 'zod';
import { readAnswer } from './answer.ts';
import { readLateResult } from './late-result.ts';
import { codeNaming } from '../failures/error-codes.ts';
import type { Endpoint } from '../failures/failure.ts';
import { mapFailure } from '../failures/map-failure.ts';
import { readRateHeaders, type RateWindow } from '../rate-headers.ts';
import { text } from './schemas/field.ts';
import type { HttpAnswer } from '../transport.ts';

/** The state of the late results of a request, and the rate windows of polls. */
export type PollAnswer = PollState & { readonly rateLimits: readonly RateWindow[] };

type PollState =
  | { readonly state: 'pending'; readonly retryAfterSeconds: number | undefined }
  /** `body` has the bytes of the webhook's body, so that its ids and credits are exact. */
  | { readonly state: 'result'; readonly body: Buffer; readonly deliveryStatus: string | undefined }
  /** The delivery has ended without a result. */
  | { readonly state: 'no-result'; readonly deliveryStatus: 'failed' | 'success' }
  /** The service will never have a result: the id is unknown, invalid or older than 30 days. */
  | { readonly state: 'gone'; readonly code: string };

const stateSchema = z.looseObject({ webhook_status: text, webhook_result: z.unknown().optional() });

/** A list has no state of its own: it can be the payload, in place of the answer. */
const schema = z.union([stateSchema, z.array(z.unknown()).transform(() => stateSchema.parse({}))]);

/**
 * Reads the answer of a poll. Pure.
 *
 * The payload decides, in its member or in place of the answer: `webhook_status` describes the delivery, which can fail
 * although the result is complete.
 *
 * @throws ServiceFailure for a refusal that says nothing about the request: credential, rate, server error
 */
export function readPollAnswer(answer: HttpAnswer, endpoint: Endpoint): PollAnswer {
  if (answer.status >= 400) return readRefusal(answer, endpoint);
  const { data, members } = readAnswer(answer, endpoint, schema);
  const deliveryStatus = data.webhook_status ?? undefined;
  const rateLimits = readRateHeaders(answer.headers);
  if (data.webhook_result !== undefined && data.webhook_result !== null) {
    const body = Buffer.from(members.get('webhook_result') ?? '');
    return { state: 'result', body, deliveryStatus, rateLimits };
  }
  const late = readLateResult(answer.body);
  if (late?.people.some(({ isPending, fields }) => !isPending && fields.length > 0))
    return { state: 'result', body: answer.body, deliveryStatus, rateLimits };
  return deliveryStatus === 'failed' || deliveryStatus === 'success'
    ? { state: 'no-result', deliveryStatus, rateLimits }
    : { state: 'pending', retryAfterSeconds: undefined, rateLimits };
}

function readRefusal(answer: HttpAnswer, endpoint: Endpoint): PollAnswer {
  const failure = mapFailure(answer, endpoint);
  const { codes, retryAfterSeconds, rateLimits } = failure;
  if (codeNaming(codes, 'RESULT_PENDING')) return { state: 'pending', retryAfterSeconds, rateLimits };
  const gone = codeNaming(codes, 'REQUEST_ID_UNKNOWN', 'REQUEST_ID_EXPIRED', 'INVALID_REQUEST_ID');
  if (gone !== undefined) return { state: 'gone', code: gone, rateLimits };
  // The status alone says that the result will not come back.
  if (answer.status === 410) return { state: 'gone', code: 'request_id_expired', rateLimits };
  throw failure;
}
