/** 16 February 2027: from then on `error_details` is the only error payload. */
const cutOver = Date.UTC(2027, 1, 16);

export interface ErrorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal in the shapes of the interface document, of the day that the sandbox's clock shows. */
export function errorAnswer(
  now: number,
  error: {
    readonly status: number;
    /** `DOMAIN.CATEGORY.REASON`. */
    readonly code: string;
    /** The root-level `error_code` of the older shape. */
    readonly oldCode?: string;
    readonly message: string;
    readonly retryAfterSeconds?: number;
    readonly window?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): ErrorAnswer {
  const details = {
    code: error.code,
    message: error.message,
    suggestions:
      error.retryAfterSeconds === undefined
        ? []
        : [{ label: 'Wait before the next call', retry_after_seconds: error.retryAfterSeconds }],
    ...(error.window !== undefined && {
      context: { window: { value: error.window, description: 'the window that is exceeded' } },
    }),
  };
  const older = {
    error: error.message,
    ...(error.oldCode !== undefined && { error_code: error.oldCode }),
    message: error.message,
  };
  return {
    status: error.status,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({ ...(now < cutOver && older), error_details: details }),
    headers: error.headers ?? {},
  };
}

/** 401 on people/match is plain text. */
export function plainUnauthorized(): ErrorAnswer {
  return {
    status: 401,
    contentType: 'text/plain; charset=utf-8',
    body: 'Invalid access credentials.',
    headers: {},
  };
}

/** 429 carries one string, which nobody should parse. */
export function tooManyCalls(
  now: number,
  path: string,
  refusal: { readonly limit: { readonly calls: number; readonly seconds: number }; readonly seconds: number },
  headers: Readonly<Record<string, string>>,
): ErrorAnswer {
  const window =
    { 60: 'minute', 3_600: 'hour', 86_400: 'day' }[refusal.limit.seconds] ??
    `${refusal.limit.seconds} seconds`;
  const message = `The maximum number of api calls allowed for api/v1${path} is ${refusal.limit.calls} times per ${window}. Please upgrade your plan.`;
  const body = now < cutOver ? { message } : {};
  const details = {
    code: 'RATE.LIMIT.EXCEEDED',
    message,
    suggestions: [{ label: 'Wait', retry_after_seconds: refusal.seconds }],
    context: { window: { value: window, description: 'the window that is exceeded' } },
  };
  return {
    status: 429,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({ ...body, ...(now >= cutOver && { error_details: details }) }),
    headers: { ...headers, 'retry-after': String(refusal.seconds) },
  };
}
