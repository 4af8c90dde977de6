import { randomInt } from 'node:crypto';
import { Chance } from './chance.ts';
import type { DeliveryKind, DeliveryRule, Faults } from './faults.ts';
import type { SandboxPerson } from './population.ts';
import { noResult, type Refusal } from './refusals.ts';
import type { LateResult, Store } from './store.ts';

/** Query parameters that request late results: the kind of delivery, and its list of results. */
export const lateParameters = {
  reveal_phone_number: { kind: 'phones', field: 'phone_numbers' },
  run_waterfall_email: { kind: 'waterfall', field: 'emails' },
  run_waterfall_phone: { kind: 'waterfall', field: 'phone_numbers' },
} as const satisfies Readonly<Record<string, { readonly kind: DeliveryKind; readonly field: string }>>;

export type LateParameter = keyof typeof lateParameters;

export interface LateRequest {
  readonly requestId: string;
  readonly webhookUrl: string;
  readonly wanted: readonly LateParameter[];
  readonly people: readonly SandboxPerson[];
  /** Credits billed with the answer. The first delivery of a waterfall reports them together with its own price. */
  readonly creditsOfAnswer: number;
}

type MadeBody = Pick<LateResult, 'body' | 'billed' | 'credits'>;

interface LateOptions {
  readonly seed: number;
  readonly store: Store;
  readonly faults: Faults;
  readonly now: () => number;
  /** Maximum delay of a result after the answer, in milliseconds. The minimum is a third of it. */
  readonly delay: number;
}

/** Price of a person with a mobile phone, and of a person whom a vendor is asked for. */
const mobileCredits = 8;
const vendorCredits = 2;
const keptMilliseconds = 30 * 86_400_000;
/** Milliseconds that the receiver has to answer, and the longest pause between two tries. */
const patience = 30_000;

/** Bills late results after a delay, sends them until the receiver answers 2xx, and keeps them 30 days for polls. */
export function createLateResults({ seed, store, faults, now, delay }: LateOptions) {
  let made = 0;
  let isClosed = false;
  for (const result of store.lateResults()) if (!result.delivered) schedule(result, 0);

  /** Returns the JSON members of the answer for requested late results, and the kinds of deliveries that follow. */
  function announce({ wanted, people }: Pick<LateRequest, 'wanted' | 'people'>) {
    const asked = new Set(wanted.map((name) => lateParameters[name].kind));
    const members: string[] = [];
    const kinds: DeliveryKind[] = [];
    if (asked.has('phones')) {
      // The service gives phones an id of their own, which differs from the request id and cannot be polled.
      const requestId = `${randomInt(2 ** 47)}7919`;
      members.push(`"phone_enrichment":{"request_id":${requestId},"status":"pending"}`);
      if (people.length > 0) kinds.push('phones');
    }
    if (asked.has('waterfall')) {
      members.push('"waterfall":{"status":"accepted","message":"see the webhook"}');
      kinds.push('waterfall');
    }
    return { members, kinds };
  }

  /** Makes the late results of a call. Resolves after the deliveries that must come before the answer. */
  async function accept(request: LateRequest, kinds: readonly DeliveryKind[]): Promise<void> {
    const results = kinds.flatMap((kind) => {
      const rule = faults.nextDelivery(kind);
      const groups = rule.split ? request.people.map((person) => [person]) : [request.people];
      return groups.map((people, index) =>
        make(kind, request, rule, bodyOf(request, kind, people, { isFirst: index === 0, rule, seed })),
      );
    });
    await Promise.all(results);
  }

  /** Answers a poll by the newest result that is ready, or by a refusal. */
  function poll(requestId: string): string | Refusal {
    if (!/^-?\d{1,19}$/.test(requestId)) return noResult(400, 'invalid_request_id');
    const results = store.lateResultsOf(requestId);
    const latest = results.findLast((result) => result.readyAt <= now()) ?? results[0];
    if (!latest) return noResult(404, 'request_id_unknown');
    if (now() - latest.readyAt > keptMilliseconds) return noResult(410, 'request_id_expired');
    const seconds = Math.ceil((latest.readyAt - now()) / 1_000);
    if (seconds > 0) return noResult(404, 'result_pending', seconds);
    store.billResult(latest);
    const status = latest.delivered ? 'success' : latest.tries > 0 ? 'failed' : 'in_progress';
    return (
      `{"request_id":${requestId},"webhook_status":"${status}","request_type":"${latest.kind}",` +
      `"last_dispatched_at":null,"failure_reason":null,"webhook_result":${latest.body || 'null'}}`
    );
  }

  /** Stores a result, and sends it after its delay. */
  function make(kind: DeliveryKind, request: LateRequest, rule: DeliveryRule, body: MadeBody): Promise<void> {
    made += 1;
    const chance = new Chance(seed, `late ${made}`);
    const usual = rule.delay ?? delay * (1 / 3 + (chance.below(1_000) / 1_000) * (2 / 3));
    const wait = (rule.before_answer ? 0 : usual) + chance.below((rule.jitter ?? 0) + 1, 1);
    const result = store.addResult({
      requestId: request.requestId,
      kind,
      url: request.webhookUrl,
      ...body,
      readyAt: now() + wait,
      rule,
    });
    if (rule.before_answer) return deliver(result);
    schedule(result, wait);
    return Promise.resolve();
  }

  function schedule(result: LateResult, milliseconds: number): void {
    setTimeout(() => {
      if (!isClosed) void deliver(result);
    }, milliseconds).unref();
  }

  /** Bills and sends a result. Repeats without a 2xx after 2, 4, 8, 16, then every 30 seconds. */
  async function deliver(result: LateResult): Promise<void> {
    store.billResult(result);
    const { rule, tries } = result;
    if (rule.never) return;
    const copies = tries === 0 ? (rule.copies ?? 1) : 1;
    const statuses = await Promise.all(Array.from({ length: copies }, () => post(result)));
    if (isClosed) return;
    const delivered = statuses.every((status) => status >= 200 && status < 300);
    store.addTry(result, delivered);
    if (!delivered) schedule(result, Math.min(1_000 * 2 ** Math.min(result.tries, 5), patience));
  }

  /** Sends a result once. @returns the HTTP status; 0 without an answer */
  async function post({ url, body, requestId, kind, number }: LateResult): Promise<number> {
    const at = Date.now();
    let status = 0;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(patience),
      });
      await answer.arrayBuffer();
      status = answer.status;
    } catch {}
    store.addDelivery({ at, requestId, kind, number, status });
    return status;
  }

  return { announce, accept, poll, close: () => void (isClosed = true) };
}

export type LateResults = ReturnType<typeof createLateResults>;

/** Makes a delivery for some people of a request. A body of phones has no request id. */
function bodyOf(
  request: LateRequest,
  kind: DeliveryKind,
  people: readonly SandboxPerson[],
  { isFirst, rule, seed }: { readonly isFirst: boolean; readonly rule: DeliveryRule; readonly seed: number },
): MadeBody {
  // Phones come from the service itself. For a waterfall, it asks other vendors.
  const isNative = kind === 'phones';
  const fields = request.wanted
    .map((name) => lateParameters[name])
    .flatMap((each) => (each.kind === kind ? [each.field] : []));
  const billed = isNative ? people.filter((person) => person.hasMobile) : people;
  const creditsEach = isNative ? mobileCredits : vendorCredits;
  // The first body of a waterfall also includes the cost of the answer, which the answer does not report.
  const credits = billed.length * creditsEach + (!isNative && isFirst ? request.creditsOfAnswer : 0);
  const vendors = [{ id: 'vendor-1', name: 'Lookup Partners', status: 'success' }];
  const delivered = people.map((person) => ({
    id: person.id,
    ...(fields.includes('emails') && {
      emails: person.email === null ? [] : [{ email: person.email, email_status_cd: 'verified' }],
    }),
    ...(fields.includes('phone_numbers') && { phone_numbers: phonesOf(person, seed) }),
    ...(isNative
      ? { status: 'success' }
      : { waterfall: Object.fromEntries(fields.map((field) => [field, [{ vendors }]])) }),
  }));
  const found = people.filter((person) => phonesOf(person, seed).length > 0).length;
  const counts = isNative
    ? `"total_requested_enrichments":${people.length},"unique_enriched_records":${found},` +
      `"missing_records":${people.length - found}`
    : `"request_id":"${request.requestId}","target_fields":${JSON.stringify(fields)},` +
      `"records_enriched":${people.length}`;
  const members = [
    '"status":"success"',
    counts,
    `"credits_consumed":${credits}`,
    `"people":${JSON.stringify(delivered)}`,
  ];
  return {
    body: spoiled(`{${members.join(',')}}`, rule),
    billed: billed.map(({ id }) => ({ personId: id, credits: String(creditsEach) })),
    credits: String(billed.length * creditsEach),
  };
}

/** Makes phone numbers of a person. All numbers are reserved for fiction. */
function phonesOf({ id, hasMobile, organization }: SandboxPerson, seed: number): readonly object[] {
  const chance = new Chance(seed, `phones of ${id}`);
  const { mobiles, office } = organization.country;
  const phones = [
    ...(hasMobile ? [{ type: 'mobile', format: chance.pick(mobiles), status: 'valid_number' }] : []),
    ...(chance.share(0.3, 1) ? [{ type: 'work_hq', format: office, status: 'no_status' }] : []),
  ];
  return phones.map(({ type, format, status }, position) => {
    let digits = chance.below(100_000, 2 + position);
    const number = format.replace(/#/g, () => {
      digits = Math.floor(digits / 10);
      return String(digits % 10);
    });
    return {
      raw_number: number,
      sanitized_number: number.replaceAll(' ', ''),
      position,
      type_cd: type,
      status_cd: status,
      confidence_cd: 'high',
      dnc_status_cd: null,
    };
  });
}

/** Damages a body as the fault `body` says. */
function spoiled(body: string, { body: fault }: DeliveryRule): string {
  if (fault === undefined) return body;
  if (fault === 'empty') return '';
  if (fault === 'not-json') return '<html>service unavailable</html>';
  if (fault === 'cut') return body.slice(0, Math.floor(body.length / 2));
  return body.replace('"people"', `"note":"a\\u0000b","people"`);
}
