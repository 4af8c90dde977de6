import type { ServiceSettings } from '../config.ts';
import type { Identity } from '../domain/identity.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { readBulkAnswer, type BulkAnswer } from './bulk-answer.ts';
import { credentialHeader } from './credential.ts';
import { toDetail } from './details.ts';
import type { Endpoint } from './failure.ts';
import { mapTransportError } from './map-failure.ts';
import { createTransport, TransportError, type HttpAnswer, type Transport } from './transport.ts';

export type { BulkAnswer, UnreadableMatch } from './bulk-answer.ts';

export interface ServiceClientSettings extends ServiceSettings {
  readonly userAgent?: string;
}

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

export interface ServiceClient {
  /**
   * Asks for up to ten people in one call.
   *
   * @param signal gives the call up; after sending that leaves it unknown
   * @throws ServiceFailure with what to do about it
   */
  bulkMatch(request: BulkRequest, signal?: AbortSignal): Promise<BulkAnswer>;
  /** Lets calls in the air end, then closes the connections. */
  close(): Promise<void>;
}

/** Limits of the interface document. */
const peoplePerCall = 10;

/**
 * @param transport stands in for the network in tests
 * @throws Problem where address or credential are missing or unusable
 */
export function createServiceClient(
  settings: ServiceClientSettings,
  transport: Transport = createTransport(),
): ServiceClient {
  const { baseUrl } = settings;
  if (baseUrl === undefined) {
    throw new Problem('setting.invalid', 'no address of the service is set', {
      where: 'ENRICHMENT_BASE_URL',
      next: 'set it to the address of the service, ending in /api/v1',
      exitCode: exitCodes.usage,
    });
  }
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': settings.userAgent ?? 'enrich',
    ...credentialHeader(settings.credential),
  };

  async function call(
    endpoint: Endpoint & { readonly method: 'GET' | 'POST'; readonly path: string },
    request: { query?: Query; body?: unknown; signal?: AbortSignal | undefined },
  ): Promise<HttpAnswer> {
    try {
      return await transport.send({
        method: endpoint.method,
        url: new URL(`${baseUrl}${endpoint.path}${queryText(request.query ?? {})}`),
        headers,
        ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
        deadlineMilliseconds: settings.callTimeoutSeconds * 1_000,
        signal: request.signal,
      });
    } catch (error) {
      throw error instanceof TransportError ? mapTransportError(error, endpoint) : error;
    }
  }

  return {
    bulkMatch: async (request, signal) => {
      if (request.details.length < 1 || request.details.length > peoplePerCall) {
        throw new RangeError(
          `a bulk call asks for 1 to ${peoplePerCall} people, not ${request.details.length}`,
        );
      }
      const query = extrasQuery(request);
      const body = { details: request.details.map(toDetail) };
      const answer = await call(bulkMatchEndpoint, { query, body, signal });
      return readBulkAnswer(answer, bulkMatchEndpoint);
    },
    close: () => transport.close(),
  };
}

const bulkMatchEndpoint = {
  name: 'POST /people/bulk_match',
  method: 'POST',
  path: '/people/bulk_match',
  paid: true,
} as const;

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
