import { Problem, exitCodes, tlsTrustAdvice } from '../../domain/problem.ts';
import type { RateWindow } from '../rate-headers.ts';

/** The operation of a call, such as `POST /people/bulk_match`, and whether the service can bill it. */
export interface Endpoint {
  readonly name: string;
  readonly paid: boolean;
}

interface FailureFacts {
  readonly endpoint: Endpoint;
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  readonly codes?: ErrorCodes | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly rateLimits?: readonly RateWindow[] | undefined;
  /** Evidence that the service has processed the call, although the status is that of a refusal. */
  readonly processedBy?: string | undefined;
}

/** A call without a usable answer, with what the caller does next (`disposition`) and the operator's next step. */
export class ServiceFailure extends Problem {
  declare readonly type: FailureType;
  readonly disposition: Disposition;
  /** False only if the call was certainly not billed. */
  readonly mayHaveBeenBilled: boolean;
  readonly httpStatus: number | undefined;
  /** Codes, the newest format first: `error_details.code`, then `error_code`; or the code of the TransportError. */
  readonly codes: ErrorCodes;
  /** The pause that the service requests, at most a day. */
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimits: readonly RateWindow[];

  constructor(type: FailureType, facts: FailureFacts) {
    const kind: FailureKind = failureKinds[type];
    const mayBeBilled = kind.mayHaveBeenBilled || facts.processedBy !== undefined;
    super(type, messageOf(kind, facts), {
      where: facts.endpoint.name,
      next: nextOf(kind, mayBeBilled, facts.endpoint),
      ...(kind.exitCode !== undefined && { exitCode: kind.exitCode }),
    });
    this.name = 'ServiceFailure';
    this.mayHaveBeenBilled = mayBeBilled && facts.endpoint.paid;
    this.disposition = dispositionOf(kind, this.mayHaveBeenBilled);
    this.httpStatus = facts.httpStatus;
    this.codes = facts.codes ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.rateLimits = facts.rateLimits ?? [];
  }
}

/**
 * Adapts a disposition: an uncertain free call is retried, and a rejected call that may have been billed is unknown.
 */
function dispositionOf({ disposition }: FailureKind, mayHaveBeenBilled: boolean): Disposition {
  // A free call may be repeated, whatever its result was.
  if (disposition === 'unknown' && !mayHaveBeenBilled) return 'retry';
  return disposition === 'reject' && mayHaveBeenBilled ? 'unknown' : disposition;
}

/** Chooses the next step of the operator, by whether the call may have been billed. */
function nextOf(kind: FailureKind, mayBeBilled: boolean, { paid }: Endpoint): string {
  if (kind.mayHaveBeenBilled && !paid) return nothingBilled;
  // If a call may have been billed, its rows become unknown and not rejected, so the next step is different.
  return kind.disposition === 'reject' && mayBeBilled && paid ? maybeBilled : kind.next;
}

function messageOf({ what }: FailureKind, facts: FailureFacts): string {
  const parts = [
    facts.httpStatus === undefined ? undefined : `HTTP ${facts.httpStatus}`,
    ...(facts.codes ?? []),
    facts.requestId === undefined ? undefined : `request ${facts.requestId}`,
    facts.processedBy,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? what : `${what} (${parts.join(', ')})`;
}

/**
 * What the caller does after a failed call.
 *
 * - `retry`: the call was not processed, or is free. The caller may repeat it at once.
 * - `wait`: the service refused the call for its rate. The caller may repeat it after a pause.
 * - `pause`: every call will fail until the operator changes something. The people of the call are not the cause.
 * - `reject`: the service refused the data about the people of the call.
 * - `unknown`: the call may have been processed and billed. The operator decides whether to repeat it.
 */
type Disposition = 'retry' | 'wait' | 'pause' | 'reject' | 'unknown';

interface FailureKind {
  readonly disposition: Disposition;
  readonly mayHaveBeenBilled: boolean;
  readonly what: string;
  readonly next: string;
  readonly exitCode?: number;
}

const kind =
  (disposition: Disposition, mayHaveBeenBilled = false) =>
  (what: string, next: string): FailureKind => ({ disposition, mayHaveBeenBilled, what, next });

const notSent = kind('retry');
const paused = kind('pause');
const rejected = kind('reject');
const uncertain = (what: string): FailureKind => kind('unknown', true)(what, maybeBilled);

const maybeBilled =
  'the call may have been billed: enrich attempts list shows it; compare it with the usage at the service';

/** The settings contain a credential that cannot be used. A retry without a change fails too. */
const wrongCredential = { exitCode: exitCodes.usage };

const checkAddress = 'check ENRICHMENT_BASE_URL and the network';

const nothingBilled = 'nothing was billed: run the command again; enrich doctor checks the service';

export const failureKinds = {
  'not-sent.refused': notSent('nothing listens at the address of the service', checkAddress),
  'not-sent.dns': notSent('the host name of the service cannot be resolved', checkAddress),
  'not-sent.tls': notSent(
    'no trusted TLS connection to the service',
    `check ENRICHMENT_BASE_URL, ${tlsTrustAdvice}`,
  ),
  'not-sent.unreachable': notSent('no connection to the service', checkAddress),
  'not-sent.timeout': notSent('no connection to the service in time', checkAddress),
  'not-sent.no-token': {
    ...notSent(
      'no access token could be read',
      'check that ENRICHMENT_ACCESS_TOKEN_FILE names a file with only the token, ' +
        'or that ENRICHMENT_ACCESS_TOKEN_COMMAND prints only the token',
    ),
    ...wrongCredential,
  },
  'not-sent.aborted': notSent('the call was aborted before it was sent', 'run the command again'),

  'token-renewed': kind('retry')(
    'the access token had expired and was renewed',
    'nothing: the worker repeats the call in a slot of its own',
  ),

  'rate-limited': kind('wait')(
    'the service refused a call for its rate',
    'if this happens often, lower RATE_LIMITS: other programs may use the same quota (enrich usage)',
  ),

  unauthorized: {
    ...paused(
      'the service does not accept the credential',
      'set ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN to that of an active account',
    ),
    ...wrongCredential,
  },
  forbidden: {
    ...paused(
      'the credential may not use this endpoint',
      'give the key the scope of this endpoint, or a plan with access to it',
    ),
    ...wrongCredential,
  },
  'out-of-credits': paused(
    'the account has no credits left',
    'add credits to the account (enrich usage shows what is left)',
  ),
  refused: paused(
    'the service refused the call',
    'find the code in the documentation of the service; enrich usage and enrich doctor show the account',
  ),
  'not-found': paused(
    'the service has no such operation or record at this address',
    'check that ENRICHMENT_BASE_URL is the address of the service and ends in /api/v1; ' +
      'if other calls succeed, the service or the credential does not offer this operation or record',
  ),
  redirected: paused(
    'the service answered with a redirect, and redirects are not followed, to protect the credential',
    'set ENRICHMENT_BASE_URL to the address that the service redirects to',
  ),

  validation: rejected(
    'the service refused the data of the people',
    'correct the rows with outcome "rejected" in the CRM, or correct the column mapping',
  ),
  'record-limit': rejected(
    'the service accepts fewer people in one call',
    'nothing: the worker asks for the people in smaller calls',
  ),

  timeout: uncertain('no answer in time after the request was sent'),
  aborted: uncertain('the call was aborted after it was sent'),
  'connection-lost': uncertain('the connection broke after the request was sent'),
  'server-error': uncertain('the service reported an internal error'),
  'unreadable-answer': uncertain('the answer does not have the documented form'),
  'answer-too-large': uncertain('the answer is larger than 16 MiB'),
} as const satisfies Record<string, FailureKind>;

export type FailureType = keyof typeof failureKinds;

/**
 * Codes of an error. Until 16 February 2027 an answer can have two: `API_INACCESSIBLE` at the root and
 * `DOMAIN.CATEGORY.REASON` in `error_details`. Either can be the documented code, so callers test both.
 */
export type ErrorCodes = readonly string[];

/** Finds a code that ends with a reason, such as `AUTH.AUTHENTICATION.INVALID_ACCESS_TOKEN`. */
export function findCodeEndingWith(codes: ErrorCodes, ...reasons: readonly string[]): string | undefined {
  return codes.find((code) => reasons.includes(code.slice(code.lastIndexOf('.') + 1).toUpperCase()));
}

/** True for `OUT_OF_CREDITS` and `BILLING.CREDITS.EXHAUSTED`, but not for `CREDENTIALS_MISSING`. */
export function areAboutCredits(codes: ErrorCodes): boolean {
  return codes.some((code) => /(?:^|[._-])credits?(?:[._-]|$)/i.test(code));
}
