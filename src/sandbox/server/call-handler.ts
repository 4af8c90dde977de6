import type { IncomingHttpHeaders } from 'node:http';
import type { CallLog, LoggedCall } from '../account/call-log.ts';
import type { ProcessedCall } from './processed-call.ts';
import type { Caller, Credentials } from '../account/credentials.ts';
import {
  errorAnswer,
  isBeforeCutOver,
  jsonType,
  plainUnauthorized,
  tooManyCalls,
  type Answer,
  type Refusal,
} from '../faults/failures.ts';
import type { Faults } from '../faults/faults.ts';
import type { LateResults } from '../late-results/late-results.ts';
import { plainPath, type Operation } from '../interface/operations.ts';
import type { RateWindows } from '../account/rate-window.ts';
import { encodedTwice, outOfCredits } from '../faults/refusals.ts';
import { requestedRefusal } from '../faults/requested-refusal.ts';
import type { Rule } from '../faults/scenario.ts';

export interface HandlerParts {
  readonly credentials: Credentials;
  readonly windows: RateWindows;
  readonly log: CallLog;
  readonly faults: Faults;
  readonly late: LateResults;
  /** Milliseconds since 1970, by the sandbox's clock. */
  readonly now: () => number;
}

/** A received call. */
export interface Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly query: unknown;
  readonly parameters: unknown;
  readonly body: string;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly arrivedAt: number;
}

/** Processes an allowed call within its limits, with the fault that applies to it. */
export type Handler = (incoming: Incoming, caller: Caller, fault: Rule) => ProcessedCall | Refusal;

/** An answer with its ending. `cut`: half of the body, then the connection closes; `reset`: no answer. */
export interface SentAnswer extends Answer {
  readonly ending: 'whole' | 'cut' | 'reset';
  readonly delayMilliseconds: number;
}

const unbilled = { people: 0, credits: '0', billed: [], requestId: null };

/** Processes every call in this order: credential, faults, rate, credits, log, answer. */
export class CallHandler {
  readonly #parts: HandlerParts;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
  }

  /**
   * Handles a call.
   *
   * @param processCall processes the call if it is allowed
   */
  async handle(operation: Operation, incoming: Incoming, processCall: Handler): Promise<SentAnswer> {
    const { credentials, log, faults } = this.#parts;
    const path = plainPath(operation);
    const caller = credentials.check(incoming.headers, operation.access, path);
    if ('status' in caller) {
      log.countOther(caller.status, path);
      const refused = this.#refuse(operation, caller);
      return { ...refused, ending: 'whole', delayMilliseconds: 0 };
    }
    const fault = faults.next(path, incoming.body || JSON.stringify(incoming.query));
    const answer = await this.#answer(operation, incoming, caller, fault, processCall);
    const isRefusal = answer.status >= 400 || fault.out_of_credits !== undefined;
    return {
      ...(fault.encoded_twice && isRefusal ? encodedTwice(answer) : answer),
      ending:
        answer.status === 0 ? 'reset' : answer.status === 200 && fault.answer === 'cut' ? 'cut' : 'whole',
      delayMilliseconds: fault.delay ?? 0,
    };
  }

  async #answer(
    operation: Operation,
    incoming: Incoming,
    caller: Caller,
    fault: Rule,
    processCall: Handler,
  ): Promise<Answer> {
    const path = plainPath(operation);
    const isToken = caller.kind === 'access-token';
    const refuse = (refusal: Refusal, headers = {}): Answer => {
      this.#log(operation, incoming, { ...unbilled, status: refusal.status });
      return this.#refuse(operation, { ...refusal, headers: { ...headers, ...refusal.headers } });
    };
    const { headers, refused } = this.#count(operation, incoming.arrivedAt, fault);
    if (refused) {
      const { seconds } = refused;
      return refuse(tooManyCalls(path, refused, { header: String(seconds), seconds }, headers));
    }
    if (fault.answer === 'gone') {
      this.#log(operation, incoming, { ...unbilled, status: 0 });
      return nothing;
    }
    if (fault.out_of_credits !== undefined) return refuse(outOfCredits(fault.out_of_credits));
    const faulty = requestedRefusal(fault, { path, headers, isToken, now: this.#parts.now() });
    if (faulty && (faulty.status < 500 || fault.billed === false)) return refuse(faulty);
    const processed = processCall(incoming, caller, fault);
    if ('status' in processed) return refuse(processed, headers);
    const { billing = unbilled } = processed;
    if (!this.#canPay(Number(billing.credits)))
      return refuse(outOfCredits(this.#parts.faults.outOfCreditsStatus()), headers);
    this.#log(operation, incoming, { ...billing, status: faulty?.status ?? 200 });
    if (processed.late) await this.#parts.late.accept(processed.late);
    if (faulty) return this.#refuse(operation, faulty);
    if (fault.answer === 'reset') return nothing;
    return { status: 200, headers, ...withFault(processed.body, fault) };
  }

  /** A 429 by a fault takes no slot either, so that the log and the windows agree. */
  #count(
    operation: Operation,
    arrivedAt: number,
    fault: Rule,
  ): Pick<ReturnType<RateWindows['count']>, 'headers' | 'refused'> {
    const { windows } = this.#parts;
    const path = plainPath(operation);
    if (operation.usageName === undefined) return { headers: {}, refused: undefined };
    if (fault.status === 429)
      return { headers: windows.headers(path, arrivedAt, fault.used_by_others), refused: undefined };
    return windows.count(path, arrivedAt, fault.used_by_others);
  }

  #canPay(credits: number): boolean {
    const left = this.#parts.faults.creditsLeft();
    return left === undefined || credits === 0 || credits <= left;
  }

  #log(
    operation: Operation,
    { arrivedAt }: Incoming,
    call: Omit<LoggedCall, 'sequence' | 'at' | 'path' | 'refused'>,
  ): void {
    const path = plainPath(operation);
    if (operation.usageName === undefined) this.#parts.log.countOther(call.status, path);
    else this.#parts.log.add({ ...call, at: arrivedAt, path, refused: call.status === 429 });
  }

  /** Answers have rate headers, except 401 and 403. */
  #refuse(operation: Operation, refusal: Refusal): Answer {
    const now = this.#parts.now();
    const { headers = {}, ...rest } = refusal;
    const hasRateHeaders = refusal.status !== 401 && refusal.status !== 403;
    if (refusal.status === 401 && operation.path === '/people/match' && isBeforeCutOver(now))
      return plainUnauthorized();
    return errorAnswer(now, operation.errors, { ...rest, ...(hasRateHeaders && { headers }) });
  }
}

/** No answer: the connection is reset. */
const nothing: Answer = { status: 0, contentType: jsonType, body: '', headers: {} };

function withFault(body: string, fault: Rule): Pick<Answer, 'contentType' | 'body'> {
  if (fault.answer === 'html')
    return { contentType: 'text/html', body: '<html><body>Please stand by</body></html>' };
  return { contentType: jsonType, body: fault.answer === 'empty' ? '' : body };
}
