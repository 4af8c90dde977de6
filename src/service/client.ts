import type { ServiceSettings } from '../config/settings.ts';
import type { Setting } from '../config/settings-schema.ts';
import type { Identity } from '../domain/identity/identity.ts';
import { lateKinds, lateKindsOf, type ExtraNames } from '../domain/late-results/delivery-kinds.ts';
import { UsageProblem } from '../domain/problem.ts';
import { readHealth, readProfile, type User } from './answers/account-answers.ts';
import type { Sent } from './failures/advice.ts';
import { readBulkAnswer, type BulkAnswer } from './answers/bulk-answer.ts';
import {
  credentialSetting,
  credentialSource,
  type CredentialHeader,
  type CredentialSource,
} from './credential.ts';
import { toDetail } from './request-details.ts';
import { operations, pollOperation, type Operation } from './endpoints.ts';
import { codeNaming } from './failures/error-codes.ts';
import { ServiceFailure, type Endpoint } from './failures/failure.ts';
import { mapTransportError } from './failures/map-failure.ts';
import { readMatchAnswer, type MatchAnswer } from './answers/match-answer.ts';
import { readPollAnswer, type PollAnswer } from './answers/poll-answer.ts';
import { UnreadableToken } from './read-token.ts';
import { createTransport, TransportError, type HttpAnswer, type Transport } from './transport.ts';
import {
  readApiUsage,
  readCreditUsage,
  type CreditUsage,
  type OperationUsage,
} from './answers/usage-answers.ts';

export type { User } from './answers/account-answers.ts';
export type { BulkAnswer } from './answers/bulk-answer.ts';
export type { MatchAnswer } from './answers/match-answer.ts';
export type { PollAnswer } from './answers/poll-answer.ts';
export type { CreditUsage, OperationUsage } from './answers/usage-answers.ts';

export interface ServiceClientSettings extends ServiceSettings {
  /** Wraps each HTTP call, to count or trace it. Must make the call once and return its result or error. */
  readonly observe?: CallObserver | undefined;
}

export type CallObserver = <Answer>(endpoint: Endpoint, call: () => Promise<Answer>) => Promise<Answer>;

/** Extra data that a call asks for. Applies to every person of the call. */
export interface Extras {
  readonly reveal?: ExtraNames<'reveal'>;
  readonly waterfall?: ExtraNames<'waterfall'>;
  /** Address for deliveries. Required for phones and waterfall results; not sent otherwise. */
  readonly webhookUrl?: string | undefined;
}

export interface BulkRequest extends Extras {
  /** From one to ten. */
  readonly details: readonly Identity[];
}

export interface MatchRequest extends Extras {
  readonly person: Identity;
}

/**
 * The operations of the service. Each method sends one request and throws ServiceFailure if there is no
 * usable answer.
 *
 * A 401 for an expired access token means that the service did not process the call. The client renews the
 * token once. It then repeats the call, except a call that rate windows count: that call throws
 * `token-renewed`, because its repetition needs a slot of its own.
 */
export interface ServiceClient {
  /**
   * Asks for one to ten people in one call.
   *
   * @param signal aborts the call; a call aborted after it was sent may have been billed
   */
  bulkMatch(request: BulkRequest, signal?: AbortSignal): Promise<BulkAnswer>;
  /** Asks for one person. */
  match(request: MatchRequest, signal?: AbortSignal): Promise<MatchAnswer>;
  /** Fetches the late results of a request. Free; the service keeps results for 30 days. */
  poll(requestId: string, signal?: AbortSignal): Promise<PollAnswer>;
  health(signal?: AbortSignal): Promise<{ readonly credentialWorks: boolean }>;
  /** The user that the credential acts as. */
  profile(signal?: AbortSignal): Promise<User>;
  /** Needs a master key, or the scope for it. */
  apiUsage(signal?: AbortSignal): Promise<readonly OperationUsage[]>;
  /** Needs a master key, or the scope for it. */
  creditUsage(signal?: AbortSignal): Promise<CreditUsage>;
  /** The setting that holds the credential; undefined without a credential. */
  readonly credentialSetting: Setting | undefined;
  /** Lets calls in flight end, then closes the connections. */
  close(): Promise<void>;
}

/** A limit of the interface document. */
const peoplePerCall = 10;

/**
 * Creates a client of the service.
 *
 * @param transport replaced in tests
 * @param credential replaced in tests
 * @throws Problem `setting.invalid` without an address, `service.no-credential` without a credential
 */
export function createServiceClient(
  settings: ServiceClientSettings,
  transport: Transport = createTransport(),
  credential: CredentialSource = credentialSource(settings.credential),
): ServiceClient {
  const { baseUrl, observe = unobserved } = settings;
  if (baseUrl === undefined) {
    throw new UsageProblem('setting.invalid', 'the address of the service is missing', {
      where: 'ENRICHMENT_BASE_URL',
      next: 'set it to the address of the service; the address ends in /api/v1',
    });
  }
  const headers = {
    accept: 'application/json',
    'cache-control': 'no-cache',
    'user-agent': 'enrich',
  };

  const renewals = new WeakSet<CredentialHeader>();
  const accepted = new WeakSet<CredentialHeader>();

  async function call<Answer>(
    operation: Operation,
    read: (answer: HttpAnswer, endpoint: Endpoint) => Answer,
    request: Request,
  ): Promise<Answer> {
    const endsAt = performance.now() + settings.callTimeoutSeconds * 1_000;
    const exchange = (authorization: CredentialHeader): Promise<Answer> =>
      observe(operation, async () => {
        try {
          const answer = read(await send(operation, request, authorization, endsAt), operation);
          accepted.add(authorization);
          return answer;
        } catch (error) {
          if (error instanceof ServiceFailure) error.adviseWithout(sentBy(request, authorization));
          throw error;
        }
      });
    const first = await credentialFor(operation);
    try {
      return await exchange(first);
    } catch (error) {
      const renewed = isRefusedToken(error) ? await credentialFor(operation, first) : first;
      // If the service refuses a renewed token at its first use, the account is refused and the token has not
      // expired.
      if (renewed === first || (renewals.has(first) && !accepted.has(first))) throw error;
      renewals.add(renewed);
      if (!operation.isCounted) return exchange(renewed);
      throw new ServiceFailure('token-renewed', { endpoint: operation, httpStatus: 401 });
    }
  }

  async function credentialFor(operation: Operation, refused?: CredentialHeader): Promise<CredentialHeader> {
    try {
      return await credential(refused);
    } catch (error) {
      if (!(error instanceof UnreadableToken)) throw error;
      throw new ServiceFailure('not-sent.no-token', { endpoint: operation, codes: [error.code] });
    }
  }

  async function send(
    operation: Operation,
    request: Request,
    authorization: CredentialHeader,
    endsAt: number,
  ): Promise<HttpAnswer> {
    try {
      return await transport.send({
        method: operation.method,
        url: new URL(`${baseUrl}${operation.path}${queryText(request.query ?? {})}`),
        headers: {
          ...headers,
          ...authorization,
          // The interface document requires it on GET too. Strict servers refuse it on a POST without a body.
          ...((operation.method === 'GET' || request.body !== undefined) && {
            'content-type': 'application/json',
          }),
        },
        ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
        deadlineMilliseconds: Math.max(0, endsAt - performance.now()),
        signal: request.signal,
      });
    } catch (error) {
      throw error instanceof TransportError ? mapTransportError(error, operation) : error;
    }
  }

  return {
    bulkMatch: async (request, signal) => {
      const { length } = request.details;
      if (length < 1 || length > peoplePerCall) {
        throw new RangeError(`a bulk call asks for 1 to ${peoplePerCall} people, not ${length}`);
      }
      const body = { details: request.details.map(toDetail) };
      return call(operations.bulkMatch, readBulkAnswer, { query: extrasQuery(request), body, signal });
    },
    match: async (request, signal) => {
      const query = { ...toDetail(request.person), ...extrasQuery(request) };
      return call(operations.match, readMatchAnswer, { query, signal });
    },
    poll: (requestId, signal) =>
      call(pollOperation(settings.pollPath, requestId), readPollAnswer, { signal }),
    health: (signal) => call(operations.health, readHealth, { signal }),
    profile: (signal) => call(operations.profile, readProfile, { signal }),
    apiUsage: (signal) => call(operations.apiUsage, readApiUsage, { signal }),
    creditUsage: (signal) => call(operations.creditUsage, readCreditUsage, { signal }),
    credentialSetting: settings.credential && credentialSetting(settings.credential),
    close: () => transport.close(),
  };
}

const unobserved: CallObserver = (_, call) => call();

interface Request {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal: AbortSignal | undefined;
}

/** What the request says about people, and its credential: advice must not quote either. */
function sentBy({ query = {}, body }: Request, authorization: CredentialHeader): Sent {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect([query, body]);
  const credential = Object.values(authorization).map((value) => value.replace(/^Bearer /, ''));
  return { texts: texts.filter((text) => text !== 'true'), credential };
}

/** /people/match answers an expired token with a 401 in plain text, without a code. */
function isRefusedToken(error: unknown): boolean {
  return (
    error instanceof ServiceFailure &&
    error.type === 'unauthorized' &&
    (error.codes.length === 0 || codeNaming(error.codes, 'INVALID_ACCESS_TOKEN') !== undefined)
  );
}

type Query = Readonly<Record<string, string | undefined>>;

/**
 * The query parameters of people enrichment. A flag that is not requested is left out.
 *
 * @throws Problem `service.no-webhook-url`
 */
function extrasQuery({ reveal = [], waterfall = [], webhookUrl }: Extras): Query {
  const late = lateKindsOf({ reveal, waterfall });
  if (late.length > 0 && webhookUrl === undefined) {
    throw new UsageProblem(
      'service.no-webhook-url',
      'the service delivers phones and waterfall results to a webhook, and its address is missing',
      { where: 'WEBHOOK_PUBLIC_URL', next: 'set it to the public address of the receiver (enrich receiver)' },
    );
  }
  return {
    reveal_personal_emails: reveal.includes('email') ? 'true' : undefined,
    ...Object.fromEntries(late.map((kind) => [lateKinds[kind].parameter, 'true'])),
    webhook_url: late.length > 0 ? webhookUrl : undefined,
  };
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (given.length === 0) return '';
  // Only form decoders read `+` as a space; every server reads `%20` as one.
  return `?${new URLSearchParams(given).toString().replaceAll('+', '%20')}`;
}
