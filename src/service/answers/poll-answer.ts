import { z } from 'zod';
import { readAnswer } from './answer.ts';
import { codeNaming } from '../failures/error-codes.ts';
import type { Endpoint } from '../failures/failure.ts';
import { mapFailure } from '../failures/map-failure.ts';
import { readRateHeaders, type RateWindow } from '../rate-headers.ts';
import { text } from './schemas/field.ts';
import type { HttpAnswer } from '../transport.ts';

/** Where the later results of a request stand, and what is left of the windows that polls are counted in. */
export type PollAnswer = PollState & { readonly rateLimits: readonly RateWindow[] };

type PollState =
  | { readonly state: 'pending'; readonly retryAfterSeconds: number | undefined }
  /** `body` is what the webhook carries, byte for byte: ids and credits in it are still exact. */
  | { readonly state: 'result'; readonly body: Buffer; readonly deliveryStatus: string | undefined }
  /** The delivery ended and there is nothing to fetch. */
  | {
      readonly state: 'no-result';
      readonly deliveryStatus: string | undefined;
      readonly reason: string | undefined;
    }
  /** Asking again will never help: unknown, expired after 30 days, or no id. */
  | { readonly state: 'gone'; readonly code: string };

const schema = z.looseObject({
  webhook_status: text,
  failure_reason: text,
  webhook_result: z.unknown().optional(),
});

/**
 * Reads the answer of a poll. Pure.
 *
 * Goes by the payload: `webhook_status` describes the delivery, which can have failed while the result is complete.
 *
 * @throws ServiceFailure for every refusal that says nothing of the request: key, rate, server
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
  return deliveryStatus === 'failed' || deliveryStatus === 'success'
    ? { state: 'no-result', deliveryStatus, reason: data.failure_reason ?? undefined, rateLimits }
    : { state: 'pending', retryAfterSeconds: undefined, rateLimits };
}

function readRefusal(answer: HttpAnswer, endpoint: Endpoint): PollAnswer {
  const failure = mapFailure(answer, endpoint);
  const { codes, retryAfterSeconds, rateLimits } = failure;
  if (codeNaming(codes, 'RESULT_PENDING')) return { state: 'pending', retryAfterSeconds, rateLimits };
  const gone = codeNaming(codes, 'REQUEST_ID_UNKNOWN', 'REQUEST_ID_EXPIRED', 'INVALID_REQUEST_ID');
  if (gone !== undefined) return { state: 'gone', code: gone, rateLimits };
  throw failure;
}
