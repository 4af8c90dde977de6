import type { ServiceSettings, Setting } from '../config/settings.ts';
import type { Identity } from '../domain/identity/identity.ts';
import type { Organization, Person } from '../domain/identity/person.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { readHealth, readProfile, readUsers, type Page, type User } from './answers/account-answers.ts';
import type { Sent } from './failures/advice.ts';
import { readBulkAnswer, type BulkAnswer } from './answers/bulk-answer.ts';
import {
  credentialSetting,
  credentialSource,
  type CredentialHeader,
  type CredentialSource,
} from './credential.ts';
import { toDetail } from './details.ts';
import { operations, pollOperation, type Operation } from './endpoints.ts';
import { codeNaming } from './failures/error-codes.ts';
import { ServiceFailure, type Endpoint } from './failures/failure.ts';
import { mapTransportError } from './failures/map-failure.ts';
import { readMatchAnswer, type MatchAnswer } from './answers/match-answer.ts';
import { readPollAnswer, type PollAnswer } from './answers/poll-answer.ts';
import { UnreadableToken } from './read-token.ts';
import { readOrganization, readPeople } from './answers/search-answers.ts';
import { createTransport, TransportError, type HttpAnswer, type Transport } from './transport.ts';
import {
  readApiUsage,
  readCreditUsage,
  type CreditUsage,
  type OperationUsage,
} from './answers/usage-answers.ts';

export type { Page, User } from './answers/account-answers.ts';
export type { BulkAnswer } from './answers/bulk-answer.ts';
export type { MatchAnswer } from './answers/match-answer.ts';
export type { PollAnswer } from './answers/poll-answer.ts';
export type { CreditUsage, OperationUsage } from './answers/usage-answers.ts';

export interface ServiceClientSettings extends ServiceSettings {
  readonly userAgent?: string;
  /** Stands around every HTTP call, to count or trace it; must call it once and hand on how it ends. */
  readonly observe?: CallObserver | undefined;
}

export type CallObserver = <Answer>(endpoint: Endpoint, call: () => Promise<Answer>) => Promise<Answer>;

/** What is asked for beyond the record itself; applies to everybody in the call. */
export interface Extras {
  readonly reveal?: readonly ('email' | 'phone')[];
  readonly waterfall?: readonly ('email' | 'phone')[];
  /** Where phones and waterfall results are delivered: required for those, and never sent without them. */
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
 * The service, one method for each operation. Every method sends once, and throws ServiceFailure with what to do about it.
 * A call whose access token had expired, and could be renewed, was never carried out. Operations that no rate window of
 * ours counts are made once more; the others throw `token-renewed`, because the second request needs a slot of its own.
 */
export interface ServiceClient {
  /**
   * Asks for up to ten people in one call.
   *
   * @param signal gives the call up; after sending that leaves it unknown
   */
  bulkMatch(request: BulkRequest, signal?: AbortSignal): Promise<BulkAnswer>;
  /** Asks for one person. */
  match(request: MatchRequest, signal?: AbortSignal): Promise<MatchAnswer>;
  /** Fetches the later results of a request; free, and possible for 30 days. */
  poll(requestId: string, signal?: AbortSignal): Promise<PollAnswer>;
  health(signal?: AbortSignal): Promise<{ readonly credentialWorks: boolean }>;
  /** The user that the credential acts as. */
  profile(signal?: AbortSignal): Promise<User>;
  /** Needs a master key, or the scope for it. */
  apiUsage(signal?: AbortSignal): Promise<readonly OperationUsage[]>;
  /** Needs a master key, or the scope for it. */
  creditUsage(signal?: AbortSignal): Promise<CreditUsage>;
  /** Needs a master key. @param page from 1 */
  users(page: number, signal?: AbortSignal): Promise<Page<User>>;
  /** @param filters as the service names them; their names are not part of the interface document */
  searchPeople(filters: SearchFilters, signal?: AbortSignal): Promise<Page<Person>>;
  /** @param domain without `www.` or `@` */
  enrichOrganization(domain: string, signal?: AbortSignal): Promise<Organization | undefined>;
  /** The setting that its credential comes from, for advice; undefined where none is set. */
  readonly credentialSetting: Setting | undefined;
  /** Lets calls in flight end, then closes the connections. */
  close(): Promise<void>;
}

export type SearchFilters = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Limits of the interface document. */
const peoplePerCall = 10;

/**
 * @param transport stands in for the network in tests
 * @param credential stands in for the source of the credential that is set
 * @throws Problem where address or credential are missing or unusable
 */
export function createServiceClient(
  settings: ServiceClientSettings,
  transport: Transport = createTransport(),
  credential: CredentialSource = credentialSource(settings.credential),
): ServiceClient {
  const { baseUrl, observe = unobserved } = settings;
  if (baseUrl === undefined) {
    throw new Problem('setting.invalid', 'no address of the service is set', {
      where: 'ENRICHMENT_BASE_URL',
      next: 'set it to the address of the service, ending in /api/v1',
      exitCode: exitCodes.usage,
    });
  }
  const headers = {
    accept: 'application/json',
    'cache-control': 'no-cache',
    'user-agent': settings.userAgent ?? 'enrich',
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
          return read(await send(operation, request, authorization, endsAt), operation);
        } catch (error) {
          if (error instanceof ServiceFailure) error.adviseWithout(sentBy(request, authorization));
          throw error;
        }
      });
    const first = await credentialFor(operation);
    try {
      const answer = await exchange(first);
      accepted.add(first);
      return answer;
    } catch (error) {
      const renewed = isRefusedToken(error) ? await credentialFor(operation, first) : first;
      // A renewed token that was never accepted tells of an account that is refused, and not of a token that expired.
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
          // The document asks for it on GET too; on a POST without a body strict servers take it for a broken one.
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
    users: (page, signal) => call(operations.users, readUsers, { query: { page: String(page) }, signal }),
    searchPeople: (body, signal) => call(operations.searchPeople, readPeople, { body, signal }),
    enrichOrganization: (domain, signal) =>
      call(operations.enrichOrganization, readOrganization, { query: { domain }, signal }),
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

/** What a refusal must not be quoted with: whom was asked for, and by what credential. */
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

/** A 401 in plain text cannot name a code, and is what an expired token meets on /people/match. */
function isRefusedToken(error: unknown): boolean {
  return (
    error instanceof ServiceFailure &&
    error.type === 'unauthorized' &&
    (error.codes.length === 0 || codeNaming(error.codes, 'INVALID_ACCESS_TOKEN') !== undefined)
  );
}

type Query = Readonly<Record<string, string | undefined>>;

/**
 * The flags of people enrichment; what is not asked for is left to its default.
 *
 * @throws Problem `service.no-webhook-url`
 */
function extrasQuery({ reveal = [], waterfall = [], webhookUrl }: Extras): Query {
  const deliversLater = reveal.includes('phone') || waterfall.length > 0;
  if (deliversLater && webhookUrl === undefined) {
    throw new Problem(
      'service.no-webhook-url',
      'phones and waterfall results are only delivered to a webhook',
      {
        where: 'WEBHOOK_PUBLIC_URL',
        next: 'set it to the public address of the receiver (enrich receiver)',
        exitCode: exitCodes.usage,
      },
    );
  }
  return {
    reveal_personal_emails: reveal.includes('email') ? 'true' : undefined,
    reveal_phone_number: reveal.includes('phone') ? 'true' : undefined,
    run_waterfall_email: waterfall.includes('email') ? 'true' : undefined,
    run_waterfall_phone: waterfall.includes('phone') ? 'true' : undefined,
    webhook_url: deliversLater ? webhookUrl : undefined,
  };
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (given.length === 0) return '';
  // A plus sign is a space only to form decoders; %20 is one to everybody.
  return `?${new URLSearchParams(given).toString().replaceAll('+', '%20')}`;
}
