import { UnreadableToken, type CredentialHeader, type CredentialSource } from './credential.ts';
import { codeNaming, ServiceFailure, type Endpoint } from './failures/failure.ts';
import { mapTransportError } from './failures/map-failure.ts';
import { TransportError, type HttpAnswer, type HttpRequest, type Transport } from './transport.ts';

/** Wraps each HTTP call, to count or trace it. Makes the call once and returns its result or error. */
export type CallObserver = <Answer>(endpoint: Endpoint, call: () => Promise<Answer>) => Promise<Answer>;

export type Query = Readonly<Record<string, string | undefined>>;

interface OperationRequest {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal: AbortSignal | undefined;
}

interface CallSettings {
  /** Address of the service, ending in `/api/v1`. */
  readonly baseUrl: string;
  /** Time limit of a call with its repetition. */
  readonly callTimeoutSeconds: number;
  readonly observe?: CallObserver | undefined;
}

/**
 * Makes one call of an operation.
 *
 * @param read reads the answer's body; throws ServiceFailure if it is not usable
 * @throws ServiceFailure if there is no usable answer
 */
type CallOperation = <Answer>(
  operation: Operation,
  read: (answer: HttpAnswer, endpoint: Endpoint) => Answer,
  request: OperationRequest,
) => Promise<Answer>;

const headersOfAll = { accept: 'application/json', 'cache-control': 'no-cache', 'user-agent': 'enrich' };

const unobserved: CallObserver = (_, call) => call();

/**
 * Returns a function that calls operations of the service, and renews an access token that the service refuses. It
 * repeats the refused call, except a call that rate windows count: that call throws `token-renewed`.
 */
export function createCallOperation(
  { baseUrl, callTimeoutSeconds, observe = unobserved }: CallSettings,
  transport: Transport,
  credential: CredentialSource,
): CallOperation {
  const renewals = new WeakSet<CredentialHeader>();
  const accepted = new WeakSet<CredentialHeader>();

  return async (operation, read, request) => {
    const endsAt = performance.now() + callTimeoutSeconds * 1_000;
    const exchange = (authorization: CredentialHeader) =>
      observe(operation, async () => {
        const deadlineMilliseconds = Math.max(0, endsAt - performance.now());
        try {
          const answer = await send(
            transport,
            operation,
            httpRequest(baseUrl, operation, request, authorization, deadlineMilliseconds),
          );
          const usable = read(answer, operation);
          accepted.add(authorization);
          return usable;
        } catch (error) {
          if (error instanceof ServiceFailure) error.leaveOutQuotes(sentBy(request, authorization));
          throw error;
        }
      });
    const first = await credentialFor(credential, operation);
    try {
      return await exchange(first);
    } catch (error) {
      const renewed = isRefusedToken(error) ? await credentialFor(credential, operation, first) : first;
      // If the service refuses a renewed token at its first use, the account is refused and the token has not
      // expired.
      if (renewed === first || (renewals.has(first) && !accepted.has(first))) throw error;
      renewals.add(renewed);
      if (!operation.isCounted) return exchange(renewed);
      throw new ServiceFailure('token-renewed', { endpoint: operation, httpStatus: 401 });
    }
  };
}

async function credentialFor(
  credential: CredentialSource,
  operation: Operation,
  refused?: CredentialHeader,
): Promise<CredentialHeader> {
  try {
    return await credential(refused);
  } catch (error) {
    if (!(error instanceof UnreadableToken)) throw error;
    throw new ServiceFailure('not-sent.no-token', { endpoint: operation, codes: [error.code] });
  }
}

async function send(transport: Transport, operation: Operation, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await transport.send(request);
  } catch (error) {
    throw error instanceof TransportError ? mapTransportError(error, operation) : error;
  }
}

function httpRequest(
  baseUrl: string,
  operation: Operation,
  { query = {}, body, signal }: OperationRequest,
  authorization: CredentialHeader,
  deadlineMilliseconds: number,
): HttpRequest {
  return {
    method: operation.method,
    url: new URL(`${baseUrl}${operation.path}${queryText(query)}`),
    headers: {
      ...headersOfAll,
      ...authorization,
      // The interface document requires it on GET too. Strict servers refuse it on a POST without a body.
      ...((operation.method === 'GET' || body !== undefined) && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    deadlineMilliseconds,
    signal,
  };
}

/** What the request says about people, and its credential: a failure must not quote either. */
function sentBy({ query = {}, body }: OperationRequest, authorization: CredentialHeader): string[] {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect([query, body]);
  // Codes may have short parts of a key such as `team-key`; the secret parts are longer.
  const secrets = Object.values(authorization).flatMap((value) => value.match(/[\p{L}\p{N}]{8,}/gu) ?? []);
  return [...texts.filter((text) => text !== 'true'), ...secrets];
}

/** /people/match answers an expired token with a 401 in plain text, without a code. */
function isRefusedToken(error: unknown): boolean {
  return (
    error instanceof ServiceFailure &&
    error.type === 'unauthorized' &&
    !error.mayHaveBeenBilled &&
    (error.codes.length === 0 || codeNaming(error.codes, 'INVALID_ACCESS_TOKEN') !== undefined)
  );
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (given.length === 0) return '';
  // Only form decoders read `+` as a space; every server reads `%20` as one.
  return `?${new URLSearchParams(given).toString().replaceAll('+', '%20')}`;
}

export interface Operation extends Endpoint {
  readonly method: 'GET' | 'POST';
  /** Relative to the base address. */
  readonly path: string;
  /** Whether each request takes a slot of a rate window. */
  readonly isCounted: boolean;
}

function enrichment(path: string): Operation {
  return { name: `POST ${path}`, method: 'POST', path, paid: true, isCounted: true };
}

function report(method: Operation['method'], path: string): Operation {
  return { name: `${method} ${path}`, method, path, paid: false, isCounted: false };
}

/**
 * The operations that the client calls, besides polls. The interface document shows the paths of the first four. The
 * paths of the usage are those of public descriptions of such services.
 */
export const operations = {
  match: enrichment('/people/match'),
  bulkMatch: enrichment('/people/bulk_match'),
  health: report('GET', '/auth/health'),
  profile: report('GET', '/users/api_profile'),
  apiUsage: report('POST', '/usage_stats/api_usage_stats'),
  creditUsage: report('POST', '/usage_stats/credit_usage_stats'),
} as const satisfies Record<string, Operation>;

/** The poll operation of a request. Its path is a setting because the interface document does not show it. */
export function pollOperation(pollPath: string, requestId: string): Operation {
  const path = pollPath.replace('{request_id}', encodeURIComponent(requestId));
  return { name: `GET ${pollPath}`, method: 'GET', path, paid: false, isCounted: true };
}
