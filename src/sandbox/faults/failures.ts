/** 16 February 2027: from then on `error_details` is the only error payload. */
const cutOver = Date.UTC(2027, 1, 16);

/** What an endpoint's errors look like before the cut-over: `details` are those that were migrated first. */
export type ErrorShape = 'older' | 'migrated' | 'details';

/** An answer as it is sent. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal, before the day decides what it looks like. */
export interface Refusal {
  readonly status: number;
  /** `DOMAIN.CATEGORY.REASON`. */
  readonly code: string;
  /** The root-level `error_code` of the older shape. */
  readonly oldCode?: string;
  readonly message: string;
  readonly suggestions?: readonly Suggestion[];
  readonly context?: Readonly<Record<string, { readonly value: string; readonly description: string }>>;
  /** Other root-level members than `error` and `message`, where the older shape is seen with them. */
  readonly older?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A next step; the members of the interface document. */
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

/** Whether a time is before the day on which the older error payloads go. */
export function isBeforeCutOver(now: number): boolean {
  return now < cutOver;
}

/** A refusal in the shape that an endpoint's errors have on the day that the sandbox's clock shows. */
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

/** 401 on people/match: plain text about a key, until `error_details` is the only payload. */
export function plainUnauthorized(): Answer {
  return {
    status: 401,
    contentType: 'text/plain; charset=utf-8',
    body: 'Invalid access credentials.',
    headers: {},
  };
}

/** 429. The older body is one string, which names path and limit and which clients should not parse. */
export function tooManyCalls(
  path: string,
  exceeded: { readonly limit: { readonly calls: number; readonly seconds: number } },
  /** `header` as it stands there, undefined for none; `seconds` as the body names them. */
  retryAfter: { readonly header: string | undefined; readonly seconds: number | undefined },
  headers: Readonly<Record<string, string>>,
): Refusal {
  const { calls, seconds } = exceeded.limit;
  const window = { 60: 'minute', 3_600: 'hour', 86_400: 'day' }[seconds] ?? `${seconds} seconds`;
  const message = `The maximum number of api calls allowed for api/v1${path} is ${calls} times per ${window}. Please upgrade your plan.`;
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
