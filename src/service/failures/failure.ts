import { Problem } from '../../domain/problem.ts';
import { adviceOf, quotes, type Sent, type Suggestion } from './advice.ts';
import type { ErrorCodes } from './error-codes.ts';
import {
  failureKinds,
  maybeBilled,
  nothingBilled,
  type Disposition,
  type FailureKind,
  type FailureType,
} from './failure-kinds.ts';
import type { RateWindow } from '../rate-headers.ts';

export type { Disposition, FailureType } from './failure-kinds.ts';

/** The operation of a call, `POST /people/bulk_match`, and whether it can be billed. */
export interface Endpoint {
  readonly name: string;
  readonly paid: boolean;
}

export interface FailureFacts {
  readonly endpoint: Endpoint;
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  readonly codes?: ErrorCodes | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly rateLimits?: readonly RateWindow[] | undefined;
  readonly suggestions?: readonly Suggestion[] | undefined;
  /** `error_details.context`: name → `{value, description}`. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** What shows that the service has processed the call, although the status is that of a refusal. */
  readonly processedBy?: string | undefined;
}

/**
 * A call without a usable answer, with its disposition and next step.
 *
 * Suggestions and context may quote the person or the credential of the request. They are private fields, so that
 * `inspect`, JSON and loggers do not print them.
 */
export class ServiceFailure extends Problem {
  declare readonly type: FailureType;
  readonly disposition: Disposition;
  /** False only if the call was certainly not charged. */
  readonly mayHaveBeenBilled: boolean;
  readonly httpStatus: number | undefined;
  /** `error_details.code`, then the older `error_code`, if present; or the code of the TransportError. */
  readonly codes: ErrorCodes;
  /** The pause that the service requests, at most a day. */
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimits: readonly RateWindow[];
  readonly #facts: FailureFacts;
  #advice: readonly string[] = [];

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
    this.#facts = facts;
  }

  /** The service's next steps and context, without quotes of the request. Empty before `leaveOutQuotes`. */
  override get advice(): readonly string[] {
    return this.#advice;
  }

  /**
   * Computes `advice`, and leaves codes and a request id that quote the request out of the message: Temporal, logs and
   * the tables keep both.
   *
   * @param sent the content of the request
   */
  leaveOutQuotes(sent: Sent): void {
    const { suggestions = [], context = {}, codes = [], requestId } = this.#facts;
    const isQuote = quotes(sent);
    this.#advice = adviceOf(suggestions, context, sent);
    this.message = messageOf(failureKinds[this.type], {
      ...this.#facts,
      codes: codes.filter((code) => !isQuote(code)),
      requestId: requestId !== undefined && isQuote(requestId) ? undefined : requestId,
    });
  }
}

function dispositionOf({ disposition }: FailureKind, mayHaveBeenBilled: boolean): Disposition {
  // A free call may be repeated whatever its result was.
  if (disposition === 'unknown' && !mayHaveBeenBilled) return 'retry';
  return disposition === 'reject' && mayHaveBeenBilled ? 'unknown' : disposition;
}

function nextOf(kind: FailureKind, mayBeBilled: boolean, { paid }: Endpoint): string {
  if (kind.mayHaveBeenBilled && !paid) return nothingBilled;
  // Rows whose call may have been billed are unknown, not rejected.
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
