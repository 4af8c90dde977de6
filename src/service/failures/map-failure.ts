import type { z } from 'zod';
import { isTlsTrustError } from '../../domain/problem.ts';
import {
  findCodeEndingWith,
  areAboutCredits,
  ServiceFailure,
  type ErrorCodes,
  type Endpoint,
  type FailureType,
} from './failure.ts';
import { isJsonObject, readJson, readRequestId, memberOf } from '../answers/exact-json.ts';
import { readRateHeaders } from '../rate-headers.ts';
import { parseEmail } from '../../domain/identity/values/email-address.ts';
import { headerValue, type HttpAnswer, type TransportError, type Headers } from '../transport.ts';

/** Documented forms of a code: `API_INACCESSIBLE`, `result_pending`. Any other text could quote the request. */
const codeForm = /^(?=.{1,100}$)(?:[A-Z]+(?:[._][A-Z0-9]+)*|[a-z]+(?:_[a-z0-9]+)+)$/;

/**
 * Maps an answer without success to a failure. Only status and codes decide, because messages may change. It reads the
 * error formats before 16 February 2027 (`error`, `error_code` and `message` at the root), after it (only
 * `error_details`), and both mixed. Pure.
 *
 * @param isPartial true: the answer also has people or a bill (`errorOfSuccess` is `partial`)
 */
export function mapFailure(answer: HttpAnswer, endpoint: Endpoint, isPartial = false): ServiceFailure {
  const value = readJson(answer.body);
  const codes = [...new Set(statedBy(value).codes)].filter((code) => codeForm.test(code));
  const suggestions = memberOf(memberOf(value, 'error_details'), 'suggestions');
  const named = [value, ...(Array.isArray(suggestions) ? suggestions : [])].map((each) =>
    secondsOf(memberOf(each, 'retry_after_seconds')),
  );
  const partial = areAboutCredits(codes) ? 'out-of-credits' : 'refused';
  return new ServiceFailure(isPartial ? partial : typeOf(answer.status, codes, value), {
    endpoint,
    httpStatus: answer.status,
    requestId: /^-?\d+$/.exec(readRequestId(value) ?? '')?.[0],
    codes,
    retryAfterSeconds: readRetryAfter(answer.headers, named, answer.receivedAt),
    rateLimits: readRateHeaders(answer.headers),
    processedBy: processedBy(answer.status, value),
  });
}

function secondsOf(value: unknown): number | undefined {
  if (typeof value === 'string') return /^\d{1,9}(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

/** Returns evidence that a refused call was processed and may have been billed; undefined: none. */
function processedBy(status: number, body: unknown): string | undefined {
  if (status === 303) return 'a 303 leads to the result of a call';
  const { hasPeople, mayBeBilled: isBilled } = statedBy(body);
  return status >= 300 && (hasPeople || isBilled) ? 'the body has people or credits' : undefined;
}

/** Chooses the type of a failure by the status and the codes. */
function typeOf(status: number, codes: ErrorCodes, value: unknown): FailureType {
  if (status >= 500) return 'server-error';
  // This check precedes the codes: a success with an error and a person's data, or with billed credits, was processed.
  if (status < 300 && errorOfSuccess(value) !== 'refusal') return 'unreadable-answer';
  if (status === 402) return 'out-of-credits';
  if (areAboutCredits(codes)) return 'out-of-credits';
  const asksForFewer = findCodeEndingWith(codes, 'RECORD_LIMIT_EXCEEDED') !== undefined;
  if (status < 300) return asksForFewer ? 'record-limit' : 'refused';
  if (status < 400) return 'redirected';
  switch (status) {
    case 400:
    case 413:
    case 422:
      return asksForFewer ? 'record-limit' : 'validation';
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'not-found';
    case 408:
      return 'timeout';
    case 429:
      return 'rate-limited';
    default:
      return 'refused';
  }
}

/** Maps a call without a complete answer. Only a call whose first byte was written can have been processed. Pure. */
export function mapTransportError(error: TransportError, endpoint: Endpoint): ServiceFailure {
  const type = error.sent ? typeAfterSending(error.code) : typeBeforeSending(error.code);
  return new ServiceFailure(type, {
    endpoint,
    httpStatus: error.status,
    codes: [error.code],
  });
}

/** Chooses the type for an error before the first byte was written: nothing was billed. */
function typeBeforeSending(code: string): FailureType {
  if (code === 'ABORTED' || code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return 'not-sent.aborted';
  if (code === 'DEADLINE' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return 'not-sent.timeout';
  if (code === 'ECONNREFUSED') return 'not-sent.refused';
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'not-sent.dns';
  if (isTlsTrustError(code)) return 'not-sent.tls';
  return 'not-sent.unreachable';
}

/** Chooses the type for an error after the first byte: the call may have been billed. */
function typeAfterSending(code: string): FailureType {
  if (code === 'ABORTED') return 'aborted';
  if (code === 'TOO_LARGE') return 'answer-too-large';
  if (code === 'DEADLINE' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT')
    return 'timeout';
  if (code === 'UNDECODABLE' || code === 'HTTPParserError' || code.startsWith('HPE_'))
    return 'unreadable-answer';
  return 'connection-lost';
}

/** Maximum pause: the service's longest rate window. A longer requested pause is shortened to this. */
const maxPauseSeconds = 86_400;

const httpDate = /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i;

/**
 * Returns the pause that the service requests: the longest of the `retry-after` header and the values in the body. A
 * date is compared with the answer's own `date` header, so that a wrong clock on this machine has no effect.
 *
 * @param named seconds that the body states
 * @param receivedAt milliseconds since 1970, for answers without a date
 * @returns whole seconds from 0 to a day; undefined if there is no usable value
 */
export function readRetryAfter(
  headers: Headers,
  named: readonly (number | undefined)[],
  receivedAt: number,
): number | undefined {
  const date = headerValue(headers, 'date');
  const now = date !== undefined && httpDate.test(date) ? Date.parse(date) : receivedAt;
  const asked = [readHeader(headerValue(headers, 'retry-after')?.trim(), now), ...named];
  const usable = asked.filter((value) => value !== undefined && !Number.isNaN(value));
  if (usable.length === 0) return undefined;
  return Math.min(Math.max(Math.ceil(Math.max(...usable.map(Number))), 0), maxPauseSeconds);
}

/** Reads seconds from `retry-after`, which can also be a date. Undefined if it is neither. */
function readHeader(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  return httpDate.test(text) ? (Date.parse(text) - now) / 1_000 : undefined;
}

/** Reads what a body states, whatever the status. Texts of messages are ignored. */
function statedBy(body: unknown) {
  const of = (member: string): unknown => memberOf(body, member);
  const details = of('error_details');
  const named = [memberOf(details, 'code'), of('error_code')];
  const codes = named.filter((code) => typeof code === 'string');
  const status = of('status');
  // Only these statuses are errors. The values of this member are not documented.
  const isFailed = typeof status === 'string' && /^(?:failed|failure|error)$/i.test(status.trim());
  const matches = of('matches');
  // The form of `error_details` beside `code` and `message` is not documented, so any content counts as an error.
  const inDetails = isJsonObject(details) ? Object.values(details) : [details];
  return {
    codes,
    isFailed,
    hasError: isFailed || [...named, of('error'), ...inDetails].some(saysSomething),
    hasPeople: [of('person'), ...(Array.isArray(matches) ? matches : [])].some(isPerson),
    mayBeBilled: mayBeBilled(of('credits_consumed')),
  };
}

/**
 * Meaning of an error in an answer with a success status.
 *
 * - `none`: there is no error, or only one about people who were not found.
 * - `refusal`: the answer has no person's data and bills nothing. Services may answer like this when credits run out.
 * - `partial`: the answer has people or bills something, and the service did not process the other people.
 */
function errorOfSuccess(body: unknown): 'none' | 'refusal' | 'partial' {
  const { codes, isFailed, hasError, hasPeople, mayBeBilled: isBilled } = statedBy(body);
  if (!hasError) return 'none';
  if (!hasPeople) return isBilled ? 'partial' : 'refusal';
  // If the answer has people, another code, such as PARTIAL, can be about the people who were not found.
  return isFailed || areAboutCredits(codes) ? 'partial' : 'none';
}

/** True if an error member has content. Services send empty members without an error: `{}`, `""`, `false`, `"none"`. */
function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return !/^(?:|0|false|none|null|ok|success|no_?error)$/i.test(value.trim());
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

/** True if a value identifies a person: a name, a profile or a real e-mail. A company or an id alone does not. */
function isPerson(value: unknown): boolean {
  const email = memberOf(value, 'email');
  if (typeof email === 'string' && parseEmail(email) !== undefined) return true;
  return ['first_name', 'last_name', 'name', 'proflink_url'].some((member) => {
    const stated = memberOf(value, member);
    return typeof stated === 'string' ? stated.trim() !== '' : stated !== null && stated !== undefined;
  });
}

/** True if the credits are not zero. An unreadable number of credits may have been billed too. */
function mayBeBilled(credits: unknown): boolean {
  if (typeof credits === 'number' || typeof credits === 'string') return Number(credits) !== 0;
  return credits !== undefined && credits !== null;
}

/** Reads an answer with the schema of its operation. Pure. @throws ServiceFailure, also for a 2xx with a refusal */
export function readAnswer<Schema extends z.ZodType>(answer: HttpAnswer, endpoint: Endpoint, schema: Schema) {
  const value = answer.status >= 200 && answer.status < 300 ? readJson(answer.body) : undefined;
  const parsed = schema.safeParse(value);
  const error = errorOfSuccess(value);
  if (value === undefined || !parsed.success || error === 'refusal') throw mapFailure(answer, endpoint);
  return {
    data: parsed.data,
    requestId: readRequestId(value),
    /** Set if the service did not process the whole call, although the answer has people or a bill. */
    partial: error === 'partial' ? mapFailure(answer, endpoint, true) : undefined,
  };
}
