import { Chance } from '../faults/chance.ts';
import type { Incoming } from './call-handler.ts';
import type { ProcessedCall, LateRequest } from './processed-call.ts';
import { distort } from '../faults/distort.ts';
import type { Refusal } from '../faults/failures.ts';
import { bulkBodySchema, extrasSchema, matchQuerySchema, type Extras } from '../interface/inputs.ts';
import { phoneEnrichmentId, type LateResults } from '../late-results/late-results.ts';
import { creditsMember } from '../faults/misstated-credits.ts';
import { parseJson } from './parse-json.ts';
import type { Asked } from '../population/asked.ts';
import type { Known, Population } from '../population/population.ts';
import { badDetails, invalid, missingParameter } from '../faults/refusals.ts';
import type { Renderer } from '../population/render.ts';
import type { Rule } from '../faults/scenario.ts';

export interface PeopleParts {
  readonly seed: number;
  readonly population: Population;
  readonly renderer: Renderer;
  readonly late: LateResults;
  /** Date of the sandbox's clock. */
  readonly today: () => string;
}

/** The parts of an answer that both endpoints share. */
interface Enriched {
  /** JSON texts, `null` for a miss. */
  readonly people: readonly string[];
  readonly requestId: string;
  readonly found: number;
  /** Members of the answer about late results. */
  readonly announced: readonly string[];
  readonly billing: NonNullable<ProcessedCall['billing']>;
  readonly late: LateRequest | undefined;
}

/** People enrichment by the interface document: results, prices and refusals. */
export class PeopleEnrichment {
  readonly #parts: PeopleParts;
  #requests = 0;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
  }

  /** POST /people/match: inputs are query parameters; there is no body. */
  match({ query }: Incoming, fault: Rule): ProcessedCall | Refusal {
    const parsed = matchQuerySchema.safeParse(query);
    if (!parsed.success) return invalid(parsed.error);
    const refused = refuseExtras(parsed.data);
    if (refused) return refused;
    const { people, requestId, announced, billing, late } = this.#enrich(
      'match',
      [parsed.data],
      parsed.data,
      fault,
    );
    const members = [`"person":${people[0] ?? 'null'}`, ...announced, `"request_id":${requestId}`];
    return { body: `{${members.join(',')}}`, billing, late };
  }

  /** POST /people/bulk_match: at most 10 in `details`. */
  bulkMatch({ query, body }: Incoming, fault: Rule): ProcessedCall | Refusal {
    const extras = extrasSchema.safeParse(query);
    if (!extras.success) return invalid(extras.error);
    const parsed = bulkBodySchema.safeParse(parseJson(body));
    if (!parsed.success) return invalid(parsed.error);
    const { details } = parsed.data;
    if (details.length === 0) return badDetails('INVALID_REQUEST', 'details is missing or empty');
    if (details.length > 10) return badDetails('RECORD_LIMIT_EXCEEDED', 'at most 10 people in details');
    const refused = refuseExtras(extras.data);
    if (refused) return refused;
    const { people, requestId, found, announced, billing, late } = this.#enrich(
      'bulk_match',
      details,
      extras.data,
      fault,
    );
    const isWaterfall = announced.some((member) => member.startsWith('"waterfall"'));
    const members = [
      '"status":"success","error_code":null,"error_message":null',
      `"total_requested_enrichments":${details.length}`,
      `"unique_enriched_records":${found}`,
      `"missing_records":${details.length - found}`,
      ...(isWaterfall ? [] : creditsMember(Number(billing.credits), fault.credits)),
      ...announced,
      `"request_id":${requestId}`,
      `"matches":${fault.matches === 'not-a-list' ? '{"0":null}' : `[${people.join(',')}]`}`,
    ];
    return { body: `{${members.join(',')}}`, billing, late };
  }

  #enrich(endpoint: 'match' | 'bulk_match', asked: readonly Asked[], extras: Extras, fault: Rule): Enriched {
    const { renderer, seed, population } = this.#parts;
    this.#requests += 1;
    const requestId = new Chance(seed, `request ${this.#requests} ${Math.random()}`).requestId();
    const options = {
      endpoint,
      personalEmails: extras.reveal_personal_emails === 'true',
      bytes: fault.person_bytes,
    };
    const found = asked.map((each) => {
      const known = population.find(each);
      const hasMoved = known && new Chance(seed, `job of ${known.id}`).share(fault.job_changes ?? 0);
      return hasMoved ? population.afterJobChange(known, this.#parts.today()) : known;
    });
    const rendered = found.map((known) => (known ? renderer.person(known, options) : 'null'));
    // A found person costs one credit, repeated calls included.
    const { price = 1 } = fault;
    const billed = found.flatMap((known, detail) =>
      known ? [{ detail, personId: known.id, credits: String(price) }] : [],
    );
    const credits = Math.round(billed.length * price * 1_000_000) / 1_000_000;
    const people = distort(rendered, fault, () =>
      renderer.person(population.numbered(new Chance(seed, requestId).below(1_000)), options),
    );
    const { announced, phones, waterfall } = this.#announce(extras, found, fault);
    const late: LateRequest = {
      requestId,
      webhookUrl: extras.webhook_url ?? '',
      asked: asked.length,
      people: found.flatMap((known) => known ?? []),
      phones,
      waterfall,
      creditsOfAnswer: credits,
    };
    return {
      people,
      requestId,
      found: billed.length,
      announced,
      billing: { people: asked.length, credits: String(credits), billed, requestId },
      late: phones || waterfall.length > 0 ? late : undefined,
    };
  }

  /** The answer's members about late results, and which late results follow. */
  #announce(
    extras: Extras,
    found: readonly (Known | undefined)[],
    fault: Rule,
  ): Pick<LateRequest, 'phones' | 'waterfall'> & { readonly announced: readonly string[] } {
    const people = found.flatMap((known) => known ?? []);
    const announced: string[] = [];
    let phones = extras.reveal_phone_number === 'true';
    if (phones) {
      const inFlight = this.#parts.late.arePhonesInFlight(people);
      const status = fault.phone_enrichment ?? (inFlight || people.length === 0 ? 'skipped' : 'pending');
      const isAnnounced = status === 'pending' || status === 'absent';
      phones = people.length > 0 && (isAnnounced || fault.delivers_anyway === true);
      if (status !== 'absent')
        announced.push(`"phone_enrichment":{"request_id":${phoneEnrichmentId()},"status":"${status}"}`);
    }
    const wanted = [
      ...(extras.run_waterfall_email === 'true' ? (['emails'] as const) : []),
      ...(extras.run_waterfall_phone === 'true' ? (['phone_numbers'] as const) : []),
    ];
    const status = fault.waterfall ?? 'accepted';
    if (wanted.length > 0 && status !== 'absent')
      announced.push(`"waterfall":{"status":"${status}","message":"results are sent to the webhook"}`);
    const isRefused = status === 'failed' && fault.delivers_anyway !== true;
    return { announced, phones, waterfall: isRefused ? [] : wanted };
  }
}

/** Refuses late results without a webhook address. */
function refuseExtras(extras: Extras): Refusal | undefined {
  const names = ['reveal_phone_number', 'run_waterfall_email', 'run_waterfall_phone'] as const;
  const wanted = names.filter((name) => extras[name] === 'true');
  return wanted.length === 0 || extras.webhook_url !== undefined
    ? undefined
    : missingParameter('webhook_url', `with ${wanted.join(', ')}`);
}
