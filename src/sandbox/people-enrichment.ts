import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Chance } from './chance.ts';
import { creditsMember, applyMatchFault, type FaultRule } from './faults.ts';
import { lateParameters, type LateParameter, type LateResults } from './late-results.ts';
import type { PersonWriter } from './person-json.ts';
import {
  requestedPersonSchema,
  type AskedPerson,
  type SandboxPerson,
  type Population,
} from './population.ts';
import { badDetails, invalidRequest, missingParameter, type Refusal } from './refusals.ts';
import { parseJson, type LoggedCall } from './store.ts';

export interface CompletedCall {
  readonly body: string;
  readonly billing?: Pick<LoggedCall, 'people' | 'credits' | 'billed' | 'requestId'>;
  /** Makes the call's late results. Resolves after those deliveries that must arrive before the answer. */
  readonly makeLateResults?: () => Promise<void>;
}

interface PeopleParts {
  readonly seed: number;
  readonly population: Population;
  readonly writePerson: PersonWriter;
  readonly late: LateResults;
  readonly now: () => number;
}

const flag = z.enum(['true', 'false']).default('false');
const lateNames = Object.keys(lateParameters) as LateParameter[];

/** Parameters for all people of a call. `webhook_url` may be http, because the receiver is on this machine. */
const extrasQuery = z.object({
  reveal_personal_emails: flag,
  reveal_phone_number: flag,
  run_waterfall_email: flag,
  run_waterfall_phone: flag,
  webhook_url: z.url({ protocol: /^https?$/ }).optional(),
});
const matchQuery = z.object({ ...requestedPersonSchema.shape, ...extrasQuery.shape });
/** The schema does not limit the number of people, because a wrong number has a 400 answer of its own. */
const bulkBody = z.object({ details: z.array(requestedPersonSchema).default([]) });

interface Enriched {
  readonly people: readonly string[];
  readonly found: number;
  readonly credits: number;
  readonly announced: readonly string[];
}

/** Makes the operations that look people up. */
export function createPeopleEnrichment({ seed, population, writePerson, late, now }: PeopleParts) {
  function match(query: unknown, fault: FaultRule): CompletedCall | Refusal {
    const parsed = matchQuery.safeParse(query);
    if (!parsed.success) return invalidRequest(parsed.error);
    return enrich('match', [parsed.data], parsed.data, fault, ({ people, announced }) => [
      `"person":${people[0] ?? 'null'}`,
      ...announced,
    ]);
  }

  function bulkMatch(query: unknown, body: string, fault: FaultRule): CompletedCall | Refusal {
    const extras = extrasQuery.safeParse(query);
    if (!extras.success) return invalidRequest(extras.error);
    const parsed = bulkBody.safeParse(parseJson(body));
    if (!parsed.success) return invalidRequest(parsed.error);
    const { details } = parsed.data;
    if (details.length === 0) return badDetails('INVALID_REQUEST', 'details is missing or empty');
    if (details.length > 10) return badDetails('RECORD_LIMIT_EXCEEDED', 'at most 10 people in details');
    return enrich('bulk_match', details, extras.data, fault, (enriched) => {
      const { people, found, credits, announced } = enriched;
      // The answer to a waterfall request contains no price.
      const isWaterfall = announced.some((member) => member.startsWith('"waterfall"'));
      return [
        '"status":"success","error_code":null,"error_message":null',
        `"total_requested_enrichments":${details.length}`,
        `"unique_enriched_records":${found}`,
        `"missing_records":${details.length - found}`,
        ...(isWaterfall ? [] : creditsMember(credits, fault.credits)),
        ...announced,
        `"matches":[${people.join(',')}]`,
      ];
    });
  }

  /** Looks people up, bills those found, and announces late results. @param membersOf the rest of the answer */
  function enrich(
    endpoint: 'match' | 'bulk_match',
    asked: readonly AskedPerson[],
    extras: z.infer<typeof extrasQuery>,
    fault: FaultRule,
    membersOf: (enriched: Enriched) => readonly string[],
  ): CompletedCall | Refusal {
    const wanted = lateNames.filter((name) => extras[name] === 'true');
    const { webhook_url: webhookUrl = '' } = extras;
    if (wanted.length > 0 && webhookUrl === '')
      return missingParameter('webhook_url', `with ${wanted.join(', ')}`);
    const requestId = new Chance(seed, `request ${randomUUID()}`).requestId();
    const options = { endpoint, personalEmails: extras.reveal_personal_emails === 'true' };
    const found = asked.map((each) => find(each, fault));
    const people = applyMatchFault(
      found.map((known) => (known ? writePerson(known, options) : 'null')),
      fault,
      () => writePerson(population.numbered(new Chance(seed, requestId).below(1_000)), options),
    );
    // Each found person costs one credit, even if an earlier call found the same person.
    const billed = found.flatMap((known) => (known ? [{ personId: known.id, credits: '1' }] : []));
    const credits = billed.length;
    // A person who is in two details of a call has late results once.
    const once = [...new Map(found.flatMap((known) => (known ? [[known.id, known]] : []))).values()];
    const request = { requestId, webhookUrl, wanted, people: once, creditsOfAnswer: credits };
    const { members, kinds } = late.announce(request);
    const announced = [...members, `"request_id":${requestId}`];
    return {
      body: `{${membersOf({ people, found: billed.length, credits, announced }).join(',')}}`,
      billing: { people: asked.length, credits: String(credits), billed, requestId },
      makeLateResults: () => late.accept(request, kinds),
    };
  }

  /** Finds a person; with the fault `job_changes`, some have changed employer today. */
  function find(asked: AskedPerson, { job_changes: share = 0 }: FaultRule): SandboxPerson | undefined {
    const known = population.find(asked);
    if (!known || share === 0 || !new Chance(seed, `job of ${known.id}`).share(share)) return known;
    return population.afterJobChange(known, new Date(now()).toISOString().slice(0, 10));
  }

  return { match, bulkMatch };
}
