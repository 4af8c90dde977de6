import type { ServiceSettings } from '../config/settings.ts';
import type { Identity } from '../domain/identity/identity.ts';
import { lateKinds, lateKindsRequestedBy, type ExtraNames } from '../domain/late-results/delivery-kinds.ts';
import { UsageProblem } from '../domain/problem.ts';
import { readApiUsage, readCreditUsage, readHealth, readProfile } from './answers/account-answers.ts';
import { readBulkAnswer, readMatchAnswer } from './answers/bulk-answer.ts';
import {
  settingOfCredential,
  createCredentialSource,
  type CredentialSource,
  type CredentialHeader,
} from './credential.ts';
import { readPollAnswer } from './answers/late-result.ts';
import { createTransport, type Transport, TransportError, type HttpAnswer } from './transport.ts';
import { findCodeEndingWith, ServiceFailure, type Endpoint } from './failures/failure.ts';
import { mapTransportError } from './failures/map-failure.ts';

export type { CreditUsage, OperationUsage } from './answers/account-answers.ts';
export type { BulkAnswer, MatchAnswer } from './answers/bulk-answer.ts';
export type { PollAnswer } from './answers/late-result.ts';

type ServiceClientSettings = ServiceSettings & { readonly observe?: CallObserver | undefined };

export interface CallExtras {
  readonly reveal?: ExtraNames<'reveal'>;
  readonly waterfall?: ExtraNames<'waterfall'>;
  /** URL for webhooks. Required for phones and waterfall results; other calls do not send it. */
  readonly webhookUrl?: string | undefined;
}

export interface BulkRequest extends CallExtras {
  readonly details: readonly Identity[];
}

export interface MatchRequest extends CallExtras {
  readonly person: Identity;
}

export type ServiceClient = ReturnType<typeof createServiceClient>;

/**
 * Creates a client of the service. Each method sends one request. A call that is aborted after it was sent may have
 * been billed. After a 401 for an expired access token, the client renews the token and repeats the request once. A
 * call that needs a slot is not repeated but throws `token-renewed`.
 *
 * @param transport replaced in tests
 * @throws Problem `setting.invalid` if there is no URL, `service.no-credential` if there is no credential
 */
export function createServiceClient(
  settings: ServiceClientSettings,
  transport: Transport = createTransport(),
) {
  const credential = createCredentialSource(settings.credential);
  const { baseUrl } = settings;
  if (baseUrl === undefined) {
    throw new UsageProblem('setting.invalid', 'the address of the service is missing', {
      where: 'ENRICHMENT_BASE_URL',
      next: 'set it to the address of the service; the address ends in /api/v1',
    });
  }
  const call = createCallOperation({ ...settings, baseUrl }, transport, credential);
  return {
    /** Looks up one to ten people in one call. */
    bulkMatch: async (request: BulkRequest, signal?: AbortSignal) => {
      const body = { details: request.details.map(toDetail) };
      return call(serviceOperations.bulkMatch, readBulkAnswer, { query: extrasQuery(request), body, signal });
    },
    match: async (request: MatchRequest, signal?: AbortSignal) => {
      const query = { ...toDetail(request.person), ...extrasQuery(request) };
      return call(serviceOperations.match, readMatchAnswer, { query, signal });
    },
    /** Fetches the late results of a request. Polls are free, and the service keeps results for 30 days. */
    poll: (requestId: string, signal?: AbortSignal) =>
      call(pollOperation(settings.pollPath, requestId), readPollAnswer, { signal }),
    health: (signal?: AbortSignal) => call(serviceOperations.health, readHealth, { signal }),
    profile: (signal?: AbortSignal) => call(serviceOperations.profile, readProfile, { signal }),
    /** Reads the team's use of its rate windows. The key must be a master key or have the scope for this. */
    apiUsage: (signal?: AbortSignal) => call(serviceOperations.apiUsage, readApiUsage, { signal }),
    /** Reads the team's use of credits. The key must be a master key or have the scope for this. */
    creditUsage: (signal?: AbortSignal) => call(serviceOperations.creditUsage, readCreditUsage, { signal }),
    credentialSetting: settings.credential && settingOfCredential(settings.credential),
    /** Waits for calls in flight, then closes the connections. */
    close: () => transport.close(),
  };
}

/** Returns the query parameters that request extra data. @throws Problem `service.no-webhook-url` */
function extrasQuery({ reveal = [], waterfall = [], webhookUrl }: CallExtras): QueryParameters {
  const late = lateKindsRequestedBy({ reveal, waterfall });
  if (late.length > 0 && webhookUrl === undefined) {
    const what = 'the service delivers phones and waterfall results to a webhook, and its address is missing';
    throw new UsageProblem('service.no-webhook-url', what, {
      where: 'WEBHOOK_PUBLIC_URL',
      next: 'set it to the public address of the receiver (enrich receiver)',
    });
  }
  return {
    reveal_personal_emails: reveal.includes('email') ? 'true' : undefined,
    ...Object.fromEntries(late.map((kind) => [lateKinds[kind].parameter, 'true'])),
    webhook_url: late.length > 0 ? webhookUrl : undefined,
  };
}

/** Converts an identity to an element of `details` in a bulk call, or to the query of a single call. */
export function toDetail(identity: Identity): Readonly<Record<string, string>> {
  const fields = {
    first_name: identity.firstName,
    last_name: identity.lastName,
    name: identity.name,
    email: identity.email,
    hashed_email: identity.hashedEmail,
    organization_name: identity.organizationName,
    domain: identity.domain,
    id: identity.personId,
    // Normalised profile URLs have no scheme, but the service expects one.
    proflink_url: identity.profileUrl && identity.profileUrl.replace(/^(?!https?:)/i, 'https://'),
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** Wraps each HTTP call, to count or trace it. It must make the call once and return its result or error. */
export type CallObserver = <Answer>(endpoint: Endpoint, call: () => Promise<Answer>) => Promise<Answer>;

export type QueryParameters = Readonly<Record<string, string | undefined>>;

interface OperationRequest {
  readonly query?: QueryParameters;
  readonly body?: unknown;
  readonly signal: AbortSignal | undefined;
}

const headersOfAll = { accept: 'application/json', 'cache-control': 'no-cache', 'user-agent': 'enrich' };

const unobserved: CallObserver = (_, call) => call();

/** Calls an operation. After a refused token, it renews the token and repeats a call that needs no slot. */
function createCallOperation(
  { baseUrl, callTimeoutSeconds, observe = unobserved }: ServiceClientSettings & { readonly baseUrl: string },
  transport: Transport,
  credential: CredentialSource,
) {
  // Headers whose token was renewed, and headers that the service has accepted.
  const renewals = new WeakSet<CredentialHeader>();
  const accepted = new WeakSet<CredentialHeader>();

  return async <Answer>(
    operation: Operation,
    read: (answer: HttpAnswer, endpoint: Endpoint) => Answer,
    { query = {}, body, signal }: OperationRequest,
  ): Promise<Answer> => {
    const endsAt = performance.now() + callTimeoutSeconds * 1_000;
    const exchange = (authorization: CredentialHeader) =>
      observe(operation, async () => {
        try {
          const answer = await transport.send({
            method: operation.method,
            url: new URL(`${baseUrl}${operation.path}${queryText(query)}`),
            headers: {
              ...headersOfAll,
              ...authorization,
              // The interface document requires this header also for GET. Strict servers refuse it for an empty POST.
              ...((operation.method === 'GET' || body !== undefined) && {
                'content-type': 'application/json',
              }),
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
            deadlineMilliseconds: Math.max(0, endsAt - performance.now()),
            signal,
          });
          const usable = read(answer, operation);
          accepted.add(authorization);
          return usable;
        } catch (error) {
          throw error instanceof TransportError ? mapTransportError(error, operation) : error;
        }
      });
    const first = await credential(operation);
    try {
      return await exchange(first);
    } catch (error) {
      const renewed = isRefusedToken(error) ? await credential(operation, first) : first;
      // If the service refuses a renewed token at once, the account is refused, and the token has not expired.
      if (renewed === first || (renewals.has(first) && !accepted.has(first))) throw error;
      renewals.add(renewed);
      if (!operation.isCounted) return exchange(renewed);
      throw new ServiceFailure('token-renewed', { endpoint: operation, httpStatus: 401 });
    }
  };
}

/** True if a 401 means an expired token. The endpoint /people/match answers with plain text, without a code. */
function isRefusedToken(error: unknown): boolean {
  return (
    error instanceof ServiceFailure &&
    error.type === 'unauthorized' &&
    !error.mayHaveBeenBilled &&
    (error.codes.length === 0 || findCodeEndingWith(error.codes, 'INVALID_ACCESS_TOKEN') !== undefined)
  );
}

function queryText(query: QueryParameters): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (given.length === 0) return '';
  // Only form decoders read `+` as a space; every server reads `%20` as a space.
  return `?${new URLSearchParams(given).toString().replaceAll('+', '%20')}`;
}

export interface Operation extends Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** True if each request needs a slot of a rate window. */
  readonly isCounted: boolean;
}

/** A paid operation. Each call needs a slot of a rate window. */
function enrichment(path: string): Operation {
  return { name: `POST ${path}`, method: 'POST', path, paid: true, isCounted: true };
}

/** A free operation, which needs no slot of a rate window. */
function report(method: Operation['method'], path: string): Operation {
  return { name: `${method} ${path}`, method, path, paid: false, isCounted: false };
}

/** The operations, except polls. The interface document shows the first four; similar services describe the usage. */
export const serviceOperations = {
  match: enrichment('/people/match'),
  bulkMatch: enrichment('/people/bulk_match'),
  health: report('GET', '/auth/health'),
  profile: report('GET', '/users/api_profile'),
  apiUsage: report('POST', '/usage_stats/api_usage_stats'),
  creditUsage: report('POST', '/usage_stats/credit_usage_stats'),
} as const satisfies Record<string, Operation>;

/** Returns the poll operation of a request. Its path is a setting, because the interface document does not show it. */
export function pollOperation(pollPath: string, requestId: string): Operation {
  const path = pollPath.replace('{request_id}', encodeURIComponent(requestId));
  return { name: `GET ${pollPath}`, method: 'GET', path, paid: false, isCounted: true };
}
