import { gzipSync } from 'node:zlib';
import { Chance } from '../faults/chance.ts';
import type { CallLog } from '../account/call-log.ts';
import type { ProcessedCall } from '../server/processed-call.ts';
import type { Refusal } from '../faults/failures.ts';
import type { Faults } from '../faults/faults.ts';
import { pollParametersSchema } from '../interface/inputs.ts';
import { bodyBeside, lateRules, type MadeBody } from './late-bodies.ts';
import type { DeliveryKind, LatePerson, LateRequest } from './late-parameters.ts';
import type { LateStore, StoredResult } from './late-store.ts';
import type { DeliveryRule } from '../faults/scenario.ts';

export interface LateOptions {
  readonly seed: number;
  readonly log: CallLog;
  readonly faults: Faults;
  readonly now: () => number;
  /** Maximum milliseconds from the answer to a result; the delay is drawn from a third to all of it. */
  readonly delay: number;
  readonly store: LateStore;
}

const keptMilliseconds = 30 * 86_400_000;
const longestPauseMilliseconds = 30_000;
const answerMilliseconds = 30_000;

/**
 * Late results: created after a delay, billed then, delivered to the webhook until it answers 2xx, and kept
 * for polls for 30 days of the sandbox's clock.
 */
export class LateResults {
  readonly #options: LateOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The number of the undelivered result of a kind and a person. */
  readonly #inFlight = new Map<string, number>();
  #made = 0;
  #closed = false;

  constructor(options: LateOptions) {
    this.#options = options;
    for (const result of options.store.undelivered()) this.#schedule(result, 0);
  }

  /** Whether earlier requests are already delivering the results of all these people. */
  areInFlight(kind: DeliveryKind, people: readonly LatePerson[]): boolean {
    return people.length > 0 && people.every(({ id }) => this.#inFlight.has(`${kind} ${id}`));
  }

  /**
   * Creates the late results of a request.
   *
   * @returns resolves after the deliveries that precede the answer
   */
  async accept(request: LateRequest): Promise<void> {
    const { faults, seed } = this.#options;
    const early: Promise<void>[] = [];
    for (const [kind, fields] of request.fields) {
      const rule = faults.nextDelivery(kind);
      for (const made of lateRules[kind].bodies({ request, fields, rule, seed }))
        early.push(this.#make(kind, request, rule, made));
    }
    await Promise.all(early);
  }

  /** GET /webhook_result/{request_id} */
  poll(parameters: unknown): ProcessedCall | Refusal {
    const asked = pollParametersSchema.safeParse(parameters);
    const requestId = asked.success ? asked.data.request_id : '';
    if (!/^-?\d{1,19}$/.test(requestId)) return refusal(400, 'invalid_request_id');
    const now = this.#options.now();
    const results = this.#options.store.ofRequest(requestId);
    const latest = results.findLast((result) => result.readyAt <= now) ?? results[0];
    if (!latest || latest.rule.poll === 'unknown') return refusal(404, 'request_id_unknown');
    if (latest.rule.poll === 'expired' || now - latest.readyAt > keptMilliseconds)
      return refusal(410, 'request_id_expired');
    const seconds = Math.ceil((latest.readyAt - now) / 1_000);
    if (seconds > 0 || latest.rule.poll === 'pending')
      return refusal(404, 'result_pending', Math.max(1, seconds));
    this.#bill(latest);
    const status = latest.delivered ? 'success' : latest.tries > 0 ? 'failed' : 'in_progress';
    return {
      billing: { people: 0, credits: '0', billed: [], requestId },
      body:
        `{"request_id":${requestId},"webhook_status":"${status}","request_type":"${latest.kind}",` +
        `"last_dispatched_at":null,"failure_reason":null,"webhook_result":${latest.body || 'null'}}`,
    };
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #make(kind: DeliveryKind, request: LateRequest, rule: DeliveryRule, made: MadeBody): Promise<void> {
    this.#made += 1;
    const chance = new Chance(this.#options.seed, `late ${this.#made}`);
    const delay = rule.before_answer
      ? 0
      : (rule.delay ?? this.#options.delay * (1 / 3 + (chance.below(1_000) / 1_000) * (2 / 3)));
    const jitter = rule.jitter === undefined ? 0 : chance.below(rule.jitter + 1, 1);
    const result = this.#options.store.add({
      requestId: request.requestId,
      kind,
      url: request.webhookUrl,
      body: made.body,
      readyAt: this.#options.now() + delay + jitter,
      billed: made.billed.map((person) => ({ personId: person.id, credits: String(made.creditsEach) })),
      credits: String(made.billed.length * made.creditsEach),
      rule,
    });
    for (const { id } of made.people) this.#inFlight.set(`${kind} ${id}`, result.number);
    if (rule.before_answer) return this.#deliver(result);
    this.#schedule(result, delay + jitter);
    return Promise.resolve();
  }

  #schedule(result: StoredResult, milliseconds: number): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#deliver(result);
    }, milliseconds);
    this.#timers.add(timer);
  }

  async #deliver(result: StoredResult): Promise<void> {
    this.#bill(result);
    if (result.rule.never) return;
    const { beside } = result.rule;
    if (beside && result.tries === 0)
      await this.#post({ ...result, body: bodyBeside(result, beside, this.#options.seed) });
    const copies = result.tries === 0 ? (result.rule.copies ?? 1) : 1;
    const statuses = await Promise.all(Array.from({ length: copies }, () => this.#post(result)));
    if (this.#closed) return;
    const delivered = statuses.every((status) => status >= 200 && status < 300);
    this.#options.store.tried(result, delivered);
    if (!delivered)
      this.#schedule(result, Math.min(1_000 * 2 ** Math.min(result.tries, 5), longestPauseMilliseconds));
  }

  /** Once, when the result is ready: at its timer, or at a poll if the sandbox's clock was moved past it. */
  #bill(result: StoredResult): void {
    if (result.counted) return;
    const { log, store } = this.#options;
    store.count(result);
    log.addLate({
      at: Date.now(),
      requestId: result.requestId,
      kind: result.kind,
      credits: result.credits,
      billed: result.billed,
    });
    for (const [person, number] of this.#inFlight)
      if (number === result.number) this.#inFlight.delete(person);
  }

  async #post(result: StoredResult): Promise<number> {
    const { log } = this.#options;
    const zipped = result.rule.gzip === true;
    const at = Date.now();
    let status = 0;
    try {
      const answer = await fetch(result.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(zipped && { 'content-encoding': 'gzip' }) },
        body: zipped ? gzipSync(result.body) : result.body,
        redirect: 'manual',
        signal: AbortSignal.timeout(answerMilliseconds),
      });
      await answer.arrayBuffer();
      status = answer.status;
    } catch {
      // No connection: the log has status 0, and a retry follows.
    }
    log.addDelivery({ at, requestId: result.requestId, kind: result.kind, number: result.number, status });
    return status;
  }
}

function refusal(status: number, code: string, retryAfterSeconds?: number): Refusal {
  const wait = retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds };
  return {
    status,
    code: `ENRICHMENT.WEBHOOK_RESULT.${code.toUpperCase()}`,
    message: code,
    suggestions: wait ? [{ label: 'Ask again later', ...wait }] : [],
    older: { error_code: code, error: code, ...wait },
  };
}
