import type { ServiceSettings } from '../config/settings.ts';
import type { Setting } from '../config/settings-schema.ts';
import type { Identity } from '../domain/identity/identity.ts';
import { capabilities } from '../domain/service-capabilities.ts';
import { lateKinds, lateKindsOf, type ExtraNames } from '../domain/late-results/delivery-kinds.ts';
import { UsageProblem } from '../domain/problem.ts';
import {
  readApiUsage,
  readCreditUsage,
  readHealth,
  readProfile,
  type CreditUsage,
  type OperationUsage,
  type User,
} from './answers/account-answers.ts';
import {
  createCallOperation,
  operations,
  pollOperation,
  type CallObserver,
  type Query,
} from './call-operation.ts';
import { readBulkAnswer, readMatchAnswer, type BulkAnswer, type MatchAnswer } from './answers/bulk-answer.ts';
import { credentialSetting, credentialSource, type CredentialSource } from './credential.ts';
import { readPollAnswer, type PollAnswer } from './answers/late-result.ts';
import { createTransport, type Transport } from './transport.ts';

export type { CreditUsage, OperationUsage, User } from './answers/account-answers.ts';
export type { BulkAnswer, MatchAnswer } from './answers/bulk-answer.ts';
export type { PollAnswer } from './answers/late-result.ts';

interface ServiceClientSettings extends ServiceSettings {
  readonly observe?: CallObserver | undefined;
}

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
  const { baseUrl } = settings;
  if (baseUrl === undefined) {
    throw new UsageProblem('setting.invalid', 'the address of the service is missing', {
      where: 'ENRICHMENT_BASE_URL',
      next: 'set it to the address of the service; the address ends in /api/v1',
    });
  }
  const call = createCallOperation({ ...settings, baseUrl }, transport, credential);
  return {
    bulkMatch: async (request, signal) => {
      const { length } = request.details;
      const { peoplePerCall } = capabilities;
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

/** One element of `details`. The single call has the same nine query parameters. */
type Detail = Readonly<Record<string, string>>;

/** Everything that a row knows about a person, under the names of the wire. Empty fields are left out. */
export function toDetail(identity: Identity): Detail {
  const fields = {
    first_name: identity.firstName,
    last_name: identity.lastName,
    name: identity.name,
    email: identity.email,
    hashed_email: identity.hashedEmail,
    organization_name: identity.organizationName,
    domain: identity.domain,
    id: identity.personId,
    proflink_url: identity.profileUrl && withScheme(identity.profileUrl),
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** Normalised profile URLs have no scheme; the service expects one. */
function withScheme(profileUrl: string): string {
  return /^https?:/i.test(profileUrl) ? profileUrl : `https://${profileUrl}`;
}
