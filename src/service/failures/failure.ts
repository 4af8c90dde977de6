import { Problem } from '../../domain/problem.ts';
import { adviceOf, type Sent, type Suggestion } from './advice.ts';
import type { ErrorCodes } from './error-codes.ts';
import { failureKinds, nothingBilled, type Disposition, type FailureType } from './failure-kinds.ts';
import type { RateWindow } from '../rate-headers.ts';

export type { Disposition, FailureType } from './failure-kinds.ts';

/** Which call it was: `POST /people/bulk_match`, and whether repeating it could cost anything. */
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
  readonly window?: string | undefined;
  readonly rateLimits?: readonly RateWindow[] | undefined;
  readonly suggestions?: readonly Suggestion[] | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: Buffer | undefined;
}

/**
 * A call without a usable answer, and what to do about it.
 *
 * What the service wrote (body, suggestions, context) may quote the person or the key that was sent: it sits in private
 * fields behind methods, so that neither `inspect`, nor JSON, nor a logger prints it by accident.
 */
export class ServiceFailure extends Problem {
  declare readonly type: FailureType;
  readonly disposition: Disposition;
  /** False only where it is certain that nothing was charged. */
  readonly mayHaveBeenBilled: boolean;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  /** `error_details.code`, then the older `error_code`, as far as they are there; or why there is no answer. */
  readonly codes: ErrorCodes;
  /** Asked for by the service, at most a day. */
  readonly retryAfterSeconds: number | undefined;
  /** The rate window that was exceeded, as the service names it. */
  readonly window: string | undefined;
  readonly rateLimits: readonly RateWindow[];
  readonly #suggestions: readonly Suggestion[];
  readonly #context: Readonly<Record<string, unknown>>;
  readonly #body: Buffer;
  #advice: readonly string[] = [];

  constructor(type: FailureType, facts: FailureFacts) {
    const kind = failureKinds[type];
    const isFree = kind.mayHaveBeenBilled && !facts.endpoint.paid;
    const next = isFree ? nothingBilled : kind.next;
    super(type, `${kind.what}${particulars(facts)}`, { where: facts.endpoint.name, next });
    this.name = 'ServiceFailure';
    this.mayHaveBeenBilled = kind.mayHaveBeenBilled && facts.endpoint.paid;
    // What costs nothing can be asked again without knowing how the first time ended.
    this.disposition = kind.disposition === 'unknown' && !facts.endpoint.paid ? 'retry' : kind.disposition;
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.codes = facts.codes ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.window = facts.window;
    this.rateLimits = facts.rateLimits ?? [];
    this.#suggestions = facts.suggestions ?? [];
    this.#context = facts.context ?? {};
    this.#body = facts.body ?? Buffer.alloc(0);
  }

  /** The service's own next steps, in its order. May quote what was sent. */
  suggestions(): readonly Suggestion[] {
    return this.#suggestions;
  }

  /** `error_details.context`: name → `{value, description}`. May quote what was sent. */
  context(): Readonly<Record<string, unknown>> {
    return this.#context;
  }

  /** The service's next steps and context, as far as they quote nothing of what was sent; empty until that is known. */
  override get advice(): readonly string[] {
    return this.#advice;
  }

  adviseWithout(sent: Sent): void {
    this.#advice = adviceOf(this.#suggestions, this.#context, sent);
  }

  /** The body as it came, bounded; empty where none came. */
  body(): Buffer {
    return this.#body;
  }
}

function particulars(facts: FailureFacts): string {
  const parts = [
    facts.httpStatus === undefined ? undefined : `HTTP ${facts.httpStatus}`,
    ...(facts.codes ?? []),
    facts.requestId === undefined ? undefined : `request ${facts.requestId}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
