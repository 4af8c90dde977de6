import { Chance } from '../faults/chance.ts';
import type { Incoming } from './call-handler.ts';
import type { ProcessedCall } from './processed-call.ts';
import { distort } from '../faults/distort.ts';
import type { Refusal } from '../faults/failures.ts';
import { bulkBodySchema, extrasSchema, matchQuerySchema, type Extras } from '../interface/inputs.ts';
import { lateRules } from '../late-results/late-bodies.ts';
import {
  askedParameters,
  deliveryKinds,
  lateParameters,
  type DeliveryKind,
  type LateRequest,
} from '../late-results/late-parameters.ts';
import type { LateResults } from '../late-results/late-results.ts';
import { creditsMember } from '../faults/misstated-credits.ts';
import { parseJson } from './parse-json.ts';
import type { AskedPerson } from '../population/asked.ts';
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

  #enrich(
    endpoint: 'match' | 'bulk_match',
    asked: readonly AskedPerson[],
    extras: Extras,
    fault: Rule,
  ): Enriched {
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
    // A person whom two details name has late results once.
    const knownPeople = [...new Map(found.flatMap((known) => (known ? [[known.id, known]] : []))).values()];
    const { announced, fields } = this.#announce(extras, knownPeople, fault);
    const late: LateRequest = {
      requestId,
      webhookUrl: extras.webhook_url ?? '',
      people: knownPeople,
      fields,
      creditsOfAnswer: credits,
    };
    return {
      people,
      requestId,
      found: billed.length,
      announced,
      billing: { people: asked.length, credits: String(credits), billed, requestId },
      late: fields.size > 0 ? late : undefined,
    };
  }

  /** The answer's members about late results, and which late results follow. */
  #announce(
    extras: Extras,
    people: readonly Known[],
    fault: Rule,
  ): Pick<LateRequest, 'fields'> & { readonly announced: readonly string[] } {
    const announced: string[] = [];
    const fields = new Map<DeliveryKind, readonly string[]>();
    for (const kind of deliveryKinds) {
      const asked = askedParameters(extras, [kind]);
      if (asked.length === 0) continue;
      const areInFlight = this.#parts.late.areInFlight(kind, people);
      const { member, areDelivered } = lateRules[kind].announce({ people, areInFlight, fault });
      if (member !== undefined) announced.push(member);
      if (areDelivered)
        fields.set(
          kind,
          asked.map((name) => lateParameters[name].field),
        );
    }
    return { announced, fields };
  }
}

/** Refuses late results without a webhook address. */
function refuseExtras(extras: Extras): Refusal | undefined {
  const wanted = askedParameters(extras);
  return wanted.length === 0 || extras.webhook_url !== undefined
    ? undefined
    : missingParameter('webhook_url', `with ${wanted.join(', ')}`);
}
