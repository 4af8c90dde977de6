/** 16 February 2027: from this day `error_details` is the only error payload. */
const cutOver = Date.UTC(2027, 1, 16);

/** The format of an endpoint's errors before the cut-over; `details` endpoints migrated first. */
export type ErrorShape = 'older' | 'migrated' | 'details';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal, independent of the format of the day. */
export interface Refusal {
  readonly status: number;
  /** `DOMAIN.CATEGORY.REASON`. */
  readonly code: string;
  /** The root-level `error_code` of the older shape. */
  readonly oldCode?: string;
  readonly message: string;
  readonly suggestions?: readonly Suggestion[];
  readonly context?: Readonly<Record<string, { readonly value: string; readonly description: string }>>;
  /** Root-level members that replace `error` and `message` in the older format, where observed. */
  readonly older?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A next step, with the members of the interface document. */
export interface Suggestion {
  readonly label: string;
  readonly url?: string;
  readonly parameter?: string;
  readonly parameters?: readonly string[];
  readonly header?: string;
  readonly example?: string;
  readonly retry_after_seconds?: number;
}

export const jsonType = 'application/json; charset=utf-8';

export function isBeforeCutOver(now: number): boolean {
  return now < cutOver;
}

/** A refusal in the format of the endpoint on the day of the sandbox's clock. */
export function errorAnswer(now: number, shape: ErrorShape, refusal: Refusal): Answer {
  const details = {
    code: refusal.code,
    message: refusal.message,
    suggestions: refusal.suggestions ?? [],
    ...(refusal.context !== undefined && { context: refusal.context }),
  };
  const older = refusal.older ?? {
    error: refusal.message,
    ...(refusal.oldCode !== undefined && { error_code: refusal.oldCode }),
    message: refusal.message,
  };
  const members = {
    ...(isBeforeCutOver(now) && shape !== 'details' && older),
    ...((!isBeforeCutOver(now) || shape !== 'older') && { error_details: details }),
  };
  return {
    status: refusal.status,
    contentType: jsonType,
    body: JSON.stringify(members),
    headers: refusal.headers ?? {},
  };
}

/** The 401 of people/match: plain text before the cut-over. */
export function plainUnauthorized(): Answer {
  return {
    status: 401,
    contentType: 'text/plain; charset=utf-8',
    body: 'Invalid access credentials.',
    headers: {},
  };
}

/** A 429. The older body is one string with path and limit, which clients should not parse. */
export function tooManyCalls(
  path: string,
  exceeded: { readonly limit: { readonly calls: number; readonly seconds: number } },
  /** `header`: its value, or undefined for no header; `seconds`: the value of the body. */
  retryAfter: { readonly header: string | undefined; readonly seconds: number | undefined },
  headers: Readonly<Record<string, string>>,
): Refusal {
  const { calls, seconds } = exceeded.limit;
  const window = { 60: 'minute', 3_600: 'hour', 86_400: 'day' }[seconds] ?? `${seconds} seconds`;
  const message =
    `The maximum number of api calls allowed for api/v1${path} is ${calls} times per ${window}. ` +
    'Please upgrade your plan.';
  return {
    status: 429,
    code: 'RATE.LIMIT.EXCEEDED',
    message,
    suggestions: [
      {
        label: 'Wait before the next call',
        ...(retryAfter.seconds !== undefined && { retry_after_seconds: retryAfter.seconds }),
      },
    ],
    context: { window: { value: window, description: 'the window that is exceeded' } },
    older: { message },
    headers: { ...headers, ...(retryAfter.header !== undefined && { 'retry-after': retryAfter.header }) },
  };
}
