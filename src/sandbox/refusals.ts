import type { z } from 'zod';
import type { OutOfCreditsStatus, FaultRule } from './faults.ts';

/** From this day (16 February 2027), errors have `error_details` as their only payload. */
const cutOver = Date.UTC(2027, 1, 16);

export interface SandboxAnswer {
  /** HTTP status. 0 resets the connection without an answer. */
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  /** The `error_code` at the root of the older error format. */
  readonly oldCode?: string;
  readonly message: string;
  readonly suggestions?: readonly { readonly label: string; readonly [member: string]: unknown }[];
  readonly context?: Readonly<Record<string, { readonly value: string; readonly description: string }>>;
  /** Members of the older error format, if they differ from its usual ones. */
  readonly older?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export const jsonType = 'application/json; charset=utf-8';

/** Makes the HTTP answer for an error. Before the cut-over, the body also has the older fields. */
export function errorAnswer(now: number, what: Refusal): SandboxAnswer {
  const { status, code, oldCode, message, suggestions = [], context } = what;
  // All answers except 401 and 403 have rate headers.
  const headers = status === 401 || status === 403 ? {} : (what.headers ?? {});
  const older = what.older ?? { error: message, ...(oldCode && { error_code: oldCode }), message };
  const members = {
    ...(now < cutOver && older),
    error_details: { code, message, suggestions, ...(context && { context }) },
  };
  return { status, contentType: jsonType, body: JSON.stringify(members), headers };
}

export const notFoundRefusal = refusal(404, 'REQUEST.ROUTE.NOT_FOUND', 'Not found.');
export const failedRefusal = refusal(500, 'REQUEST.PROCESSING.FAILED', 'The call failed.');

const auth = 'AUTH.AUTHENTICATION';
export const missingCredential = refusal(401, `${auth}.CREDENTIALS_MISSING`, 'No credential was sent.');
export const invalidKey = refusal(401, `${auth}.CREDENTIALS_INVALID`, 'Invalid access credentials.');
/** Refusal of a bearer token, also of an API key that was sent as a bearer token. */
export const invalidToken = refusal(401, `${auth}.INVALID_ACCESS_TOKEN`, 'The access token has expired.', {
  oldCode: 'INVALID_ACCESS_TOKEN',
});
const inaccessible = refusal(403, 'AUTH.AUTHORIZATION.API_INACCESSIBLE', 'The credential has no access.', {
  oldCode: 'API_INACCESSIBLE',
});

export function invalidRequest(error?: Pick<z.ZodError, 'issues'>): Refusal {
  const paths = error?.issues.map(({ path }) => path.join('.')) ?? [];
  const names = [...new Set(paths)].filter((name) => name !== '');
  const message = ['The request is not as described', ...names].join(': ');
  return refusal(422, 'REQUEST.VALIDATION.INVALID', message, {
    suggestions: names.map((parameter) => ({ label: `Correct ${parameter}`, parameter })),
  });
}

export function missingParameter(parameter: string, reason: string): Refusal {
  return refusal(422, 'REQUEST.VALIDATION.PARAMETER_MISSING', `${parameter} is required ${reason}.`, {
    suggestions: [{ label: `Send ${parameter}`, parameter }],
  });
}

/** Makes a 400 answer of bulk enrichment, in the format that the real service sends. */
export function badDetails(code: 'INVALID_REQUEST' | 'RECORD_LIMIT_EXCEEDED', message: string): Refusal {
  return refusal(400, `PEOPLE.VALIDATION.${code}`, message, {
    older: { status: 'failed', error_code: code, error_message: message },
  });
}

/** Refuses an account without credits. The interface document shows no such answer, so the status is a guess. */
export function outOfCredits(status: OutOfCreditsStatus): Refusal {
  return refusal(status, 'BILLING.CREDITS.EXHAUSTED', 'The account has no credits left.', {
    oldCode: status === 403 ? 'CREDITS_EXHAUSTED' : 'INSUFFICIENT_CREDITS',
  });
}

/** Makes the answer to a poll without a result, such as `result_pending`. */
export function noResult(status: number, code: string, retryAfterSeconds?: number): Refusal {
  const wait = retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds };
  return refusal(status, `ENRICHMENT.WEBHOOK_RESULT.${code.toUpperCase()}`, code, {
    suggestions: wait ? [{ label: 'Ask again later', ...wait }] : [],
    older: { error_code: code, error: code, ...wait },
  });
}

/** Makes a 429 answer. The older body is one text with path and limit, which clients should not parse. */
export function tooManyCalls(
  path: string,
  limit: { readonly calls: number; readonly seconds: number },
  retryAfter: string | null,
): Refusal {
  const named: Record<number, string> = { 60: 'minute', 3_600: 'hour', 86_400: 'day' };
  const window = named[limit.seconds] ?? `${limit.seconds} seconds`;
  const message =
    `The maximum number of api calls allowed for api/v1${path} is ${limit.calls} times per ${window}. ` +
    'Please upgrade your plan.';
  const wait = /^-?\d+$/.test(retryAfter ?? '') && { retry_after_seconds: Number(retryAfter) };
  return refusal(429, 'RATE.LIMIT.EXCEEDED', message, {
    suggestions: [{ label: 'Wait before the next call', ...wait }],
    context: { window: { value: window, description: 'the window that is exceeded' } },
    older: { message },
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
  });
}

function refusal(
  status: number,
  code: string,
  message: string,
  more: Partial<Omit<Refusal, 'status' | 'code' | 'message'>> = {},
): Refusal {
  return { status, code, message, ...more };
}

/** Makes the refusal that a scenario asks for. Undefined if it asks for none. */
export function requestedRefusal(
  { status, code, retry_after: asked = '1' }: FaultRule,
  path: string,
  now: number,
): Refusal | undefined {
  if (status === undefined) return undefined;
  const isDate = typeof asked === 'object' && asked !== null;
  const retryAfter = isDate ? new Date(now + asked.date * 1_000).toUTCString() : asked;
  const usual: Record<number, Refusal> = {
    401: invalidKey,
    402: outOfCredits(402),
    403: inaccessible,
    422: invalidRequest(),
    429: tooManyCalls(path, { calls: 600, seconds: 3_600 }, retryAfter),
  };
  const message = `a scenario of the sandbox asked for status ${status}`;
  const refused = usual[status] ?? refusal(status, 'SCENARIO.FAULT.REQUESTED', message);
  return { ...refused, ...(code !== undefined && { code, oldCode: code }) };
}
