import { Chance } from './chance.ts';
import { errorAnswer, plainUnauthorized, tooManyCalls, type ErrorAnswer } from './failures.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { askedSchema, bulkBodySchema } from './inputs.ts';
import type { Asked, Known, Population } from './population.ts';
import type { RateWindows } from './rate-window.ts';
import type { Renderer } from './render.ts';
import { distort } from './distort.ts';
import { phoneEnrichmentId, type LateRequest, type LateResults } from './late-results.ts';
import type { Faults, Rule } from './scenario.ts';

export interface ServiceParts {
  readonly seed: number;
  readonly population: Population;
  readonly renderer: Renderer;
  readonly windows: RateWindows;
  readonly log: CallLog;
  readonly faults: Faults;
  readonly late: LateResults;
  /** Milliseconds since 1970, by the sandbox's own clock. */
  readonly now: () => number;
}

/** How an answer is to be sent. */
export interface Answer extends ErrorAnswer {
  /** `cut`: half of the body, then the connection closes; `reset` and `gone`: no answer at all. */
  readonly ending: 'whole' | 'cut' | 'reset';
  readonly delayMilliseconds: number;
}

type Query = Readonly<Record<string, string | undefined>>;

const needsWebhook = ['reveal_phone_number', 'run_waterfall_email', 'run_waterfall_phone'] as const;
const json = 'application/json; charset=utf-8';

/** People enrichment as the interface document describes it: what is found, what it costs, and what is refused. */
export class EnrichmentService {
  readonly #parts: ServiceParts;
  #requests = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** POST /people/match: inputs are query parameters, and there is no body. */
  match(query: Query, arrivedAt: number): Promise<Answer> {
    const path = '/people/match';
    return this.#answer(path, JSON.stringify(query), arrivedAt, (fault) => {
      const asked = askedSchema.safeParse(query);
      if (!asked.success) return this.#invalid('a parameter is not a string');
      const refused = this.#extras(query);
      if (refused) return refused;
      const known = this.#parts.population.find(asked.data);
      return this.#people(
        path,
        [asked.data],
        [known],
        fault,
        query,
        (people, requestId, _credits, announced) => {
          return `{"person":${people[0] ?? 'null'}${announced},"request_id":${requestId}}`;
        },
      );
    });
  }

  /** POST /people/bulk_match: at most 10 in `details`. */
  bulkMatch(query: Query, body: string, arrivedAt: number): Promise<Answer> {
    const path = '/people/bulk_match';
    return this.#answer(path, body, arrivedAt, (fault) => {
      const parsed = bulkBodySchema.safeParse(parseJson(body));
      if (!parsed.success) return this.#invalid('the body is not {"details": [{…}]} with strings');
      const { details } = parsed.data;
      if (details.length === 0) return this.#badRequest('INVALID_REQUEST', 'details is missing or empty');
      if (details.length > 10)
        return this.#badRequest('RECORD_LIMIT_EXCEEDED', 'at most 10 people in details');
      const refused = this.#extras(query);
      if (refused) return refused;
      const found = details.map((asked) => this.#parts.population.find(asked));
      return this.#people(path, details, found, fault, query, (people, requestId, credits, announced) => {
        const count = found.filter(Boolean).length;
        const list = fault.matches === 'not-a-list' ? '{"0":null}' : `[${people.join(',')}]`;
        return (
          `{"status":"success","error_code":null,"error_message":null,"total_requested_enrichments":${details.length},` +
          `"unique_enriched_records":${count},"missing_records":${details.length - count}` +
          `${announced.includes('"waterfall"') ? '' : creditsMember(credits, fault)}${announced},"request_id":${requestId},"matches":${list}}`
        );
      });
    });
  }

  /** GET /webhook_result/{request_id}: free, and counted like every call. */
  poll(requestId: string, arrivedAt: number): Promise<Answer> {
    const path = '/webhook_result';
    return this.#answer(path, requestId, arrivedAt, () => {
      const { status, body } = this.#parts.late.poll(requestId);
      if (status !== 200) return { status, contentType: json, body, headers: {} };
      return { call: { people: 0, credits: '0', billed: [], requestId }, body, late: undefined };
    });
  }

  /** Wraps a call: rate, faults, and the log, written before the answer is. */
  async #answer(
    path: string,
    body: string,
    arrivedAt: number,
    carryOut: (fault: Rule) => Carried | ErrorAnswer,
  ): Promise<Answer> {
    const { windows, log, faults, now } = this.#parts;
    const fault = faults.next(path, body);
    const { headers, refused } = windows.count(path, now());
    const base = { at: arrivedAt, path, people: 0, credits: '0', billed: [], requestId: null };
    const ended = (answer: ErrorAnswer, ending: Answer['ending'] = 'whole'): Answer => ({
      ...answer,
      ending,
      delayMilliseconds: fault.delay ?? 0,
    });
    if (refused) {
      log.add({ ...base, status: 429, refused: true });
      return ended(tooManyCalls(now(), path, refused, headers));
    }
    if (fault.answer === 'gone') {
      log.add({ ...base, status: 0, refused: false });
      return ended({ status: 0, contentType: json, body: '', headers }, 'reset');
    }
    if (fault.status !== undefined && (fault.status < 500 || fault.billed === false)) {
      log.add({ ...base, status: fault.status, refused: fault.status === 429 });
      return ended(this.#faultyStatus(path, fault, fault.status, headers));
    }
    const carried = carryOut(fault);
    if (!('call' in carried)) {
      log.add({ ...base, status: carried.status, refused: false });
      return ended({ ...carried, headers: { ...headers, ...carried.headers } });
    }
    log.add({ ...carried.call, at: arrivedAt, path, status: fault.status ?? 200, refused: false });
    if (carried.late) await this.#parts.late.accept(carried.late);
    if (fault.status !== undefined) return ended(this.#faultyStatus(path, fault, fault.status, headers));
    const answer = { status: 200, contentType: json, body: carried.body, headers };
    switch (fault.answer) {
      case 'html':
        return ended({
          ...answer,
          contentType: 'text/html',
          body: '<html><body>Please stand by</body></html>',
        });
      case 'empty':
        return ended({ ...answer, body: '' });
      case 'cut':
        return ended(answer, 'cut');
      case 'reset':
        return ended(answer, 'reset');
      case undefined:
        return ended(answer);
    }
  }

  #people(
    path: string,
    asked: readonly Asked[],
    found: readonly (Known | undefined)[],
    fault: Rule,
    query: Query,
    body: (people: readonly string[], requestId: string, credits: number, announced: string) => string,
  ): Carried {
    const { renderer, seed, population } = this.#parts;
    this.#requests += 1;
    const requestId = new Chance(seed, `request ${this.#requests} ${Math.random()}`).requestId();
    const options = {
      personalEmails: query['reveal_personal_emails'] === 'true',
      endpoint: path.endsWith('bulk_match') ? ('bulk_match' as const) : ('match' as const),
    };
    const rendered = found.map((known) => (known ? renderer.person(known, options) : 'null'));
    // Somebody who was found is demographics at least: one credit each, asked again as well.
    const billed = found.flatMap((known, detail) =>
      known ? [{ detail, personId: known.id, credits: '1' }] : [],
    );
    const people = distort(rendered, fault, () =>
      renderer.person(population.numbered(new Chance(seed, requestId).below(1_000)), options),
    );
    const later = this.#announce(query, found, fault);
    return {
      call: { people: asked.length, credits: String(billed.length), billed, requestId },
      body: body(people, requestId, billed.length, later.announced),
      late: later.wanted && {
        ...later.wanted,
        requestId,
        asked: asked.length,
        creditsOfAnswer: billed.length,
      },
    };
  }

  /** What the answer says of results that come later, and which of them there are to be. */
  #announce(
    query: Query,
    found: readonly (Known | undefined)[],
    fault: Rule,
  ): { announced: string; wanted: Omit<LateRequest, 'requestId' | 'asked' | 'creditsOfAnswer'> | undefined } {
    const people = found.flatMap((known) =>
      known ? [{ id: known.id, hasMobile: known.hasMobile, email: known.email }] : [],
    );
    let announced = '';
    let phones = query['reveal_phone_number'] === 'true';
    if (phones) {
      const skipped =
        fault.phone_enrichment ?? (this.#parts.late.arePhonesInFlight(people) ? 'skipped' : undefined);
      phones = (skipped === undefined || skipped === 'absent') && people.length > 0;
      const status = skipped ?? (people.length > 0 ? 'pending' : 'skipped');
      if (status !== 'absent')
        announced += `,"phone_enrichment":{"request_id":${phoneEnrichmentId()},"status":"${status}"}`;
    }
    let waterfall = [
      ...(query['run_waterfall_email'] === 'true' ? (['emails'] as const) : []),
      ...(query['run_waterfall_phone'] === 'true' ? (['phone_numbers'] as const) : []),
    ];
    if (waterfall.length > 0) {
      const status = fault.waterfall ?? 'accepted';
      if (status === 'failed') waterfall = [];
      if (status !== 'absent')
        announced += `,"waterfall":{"status":"${status}","message":"results are sent to the webhook"}`;
    }
    if (!phones && waterfall.length === 0) return { announced, wanted: undefined };
    return { announced, wanted: { webhookUrl: query['webhook_url'] ?? '', people, phones, waterfall } };
  }

  /** Rules of people enrichment: what comes later needs an address to come to. */
  #extras(query: Query): ErrorAnswer | undefined {
    const wanted = needsWebhook.filter((name) => query[name] === 'true');
    const url = query['webhook_url'];
    if (wanted.length === 0) return undefined;
    if (!url) return this.#invalid(`webhook_url is required with ${wanted.join(', ')}`);
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return this.#invalid('webhook_url is no address');
    return undefined;
  }

  #invalid(message: string): ErrorAnswer {
    return errorAnswer(this.#parts.now(), { status: 422, code: 'REQUEST.VALIDATION.INVALID', message });
  }

  #badRequest(code: string, message: string): ErrorAnswer {
    const body = JSON.stringify({ status: 'failed', error_code: code, error_message: message });
    return { status: 400, contentType: json, body, headers: {} };
  }

  #faultyStatus(
    path: string,
    fault: Rule,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): ErrorAnswer {
    const now = this.#parts.now();
    if (status === 401 && path === '/people/match') return plainUnauthorized();
    if (status === 429) {
      const answer = tooManyCalls(now, path, { limit: { calls: 600, seconds: 3_600 }, seconds: 1 }, headers);
      const { 'retry-after': usual, ...rest } = answer.headers;
      const retryAfter = fault.retry_after === undefined ? usual : fault.retry_after;
      return {
        ...answer,
        headers:
          retryAfter === null || retryAfter === undefined ? rest : { ...rest, 'retry-after': retryAfter },
      };
    }
    const usualCode = { 401: 'INVALID_ACCESS_TOKEN', 403: 'API_INACCESSIBLE', 402: 'INSUFFICIENT_CREDITS' }[
      status
    ];
    return errorAnswer(now, {
      status,
      code: fault.code ?? (status === 422 ? 'REQUEST.VALIDATION.INVALID' : 'SCENARIO.FAULT.REQUESTED'),
      ...(usualCode !== undefined && { oldCode: usualCode }),
      message: `a scenario of the sandbox asked for status ${status}`,
    });
  }
}

interface Carried {
  readonly call: Pick<LoggedCall, 'people' | 'credits' | 'billed' | 'requestId'>;
  readonly body: string;
  readonly late: LateRequest | undefined;
}

function creditsMember(credits: number, fault: Rule): string {
  switch (fault.credits) {
    case 'missing':
      return '';
    case 'fractional':
      return `,"credits_consumed":${credits}.50`;
    case 'negative':
      return `,"credits_consumed":-${credits + 1}`;
    case 'text':
      return `,"credits_consumed":"${credits} credits"`;
    case 'double':
      return `,"credits_consumed":${credits * 20 + 20}`;
    case undefined:
      return `,"credits_consumed":${credits}`;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
