import { z } from 'zod';
import type { Credits } from '../../domain/money/decimal.ts';
import type { Person } from '../../domain/identity/person.ts';
import { contentTypeOf, explainIssues, readAnswer } from './answer.ts';
import { readCredits, readRequestId, type CreditsProblem } from './exact-values.ts';
import type { Endpoint } from '../failures/failure.ts';
import { mapFailure } from '../failures/map-failure.ts';
import { readRateHeaders, type RateWindow } from '../rate-headers.ts';
import { described, text, whole } from './schemas/field.ts';
import { personSchema } from './schemas/person.ts';
import type { HttpAnswer } from '../transport.ts';

/** What the service made of one bulk call. */
export interface BulkAnswer {
  readonly httpStatus: number;
  /** Exact text of the signed 64-bit number; undefined where none came. */
  readonly requestId: string | undefined;
  /**
   * In the order and number of the wire, which nothing promises to be those of `details`. Null: the service found no
   * person, or the element is listed in `unreadableMatches`.
   */
  readonly matches: readonly (Person | null)[];
  /**
   * Elements of `matches` that are not a person by the interface document. They may be billed and are assigned to no
   * row.
   */
  readonly unreadableMatches: readonly UnreadableMatch[];
  /** Undefined: `creditsProblem` says why, and the reservation is to be held. */
  readonly creditsConsumed: Credits | undefined;
  readonly creditsProblem: CreditsProblem | undefined;
  /** People that were billed. */
  readonly uniqueEnrichedRecords: number | undefined;
  readonly missingRecords: number | undefined;
  /** Set where the service answered in part: data came, and an error with it. */
  readonly errorCode: string | undefined;
  /** `pending`; or `skipped`: an earlier request's delivery serves. Its own request id cannot be polled. */
  readonly phoneEnrichment: { readonly status: string } | undefined;
  /** `accepted`, `partial_accepted`; anything else: no delivery will come. */
  readonly waterfall: { readonly status: string } | undefined;
  readonly rateLimits: readonly RateWindow[];
  /** The whole body, decompressed, as it came. */
  readonly raw: Buffer;
  readonly contentType: string | undefined;
}

export interface UnreadableMatch {
  /** Index in `matches`. */
  readonly index: number;
  /** Names of the fields at fault and what was expected; no values. */
  readonly reason: string;
}

/**
 * The state of what comes later: open, because further values are not shown. No other member passes: `phone_enrichment`
 * is seen with an id of its own, rounded by then, that cannot be polled.
 */
export const laterResults = described(z.object({ status: z.string().max(100), message: text }));

const envelopeSchema = z.looseObject({
  status: text,
  error_code: text,
  error_message: text,
  total_requested_enrichments: whole,
  unique_enriched_records: described(z.int().nonnegative()),
  missing_records: described(z.int().nonnegative()),
  matches: z.array(z.unknown()).nullish(),
  phone_enrichment: laterResults,
  waterfall: laterResults,
});

/**
 * Reads the answer of a bulk call. Pure.
 *
 * One person in a wrong shape does not spoil the other nine: nine are paid for and usable, and asking again would pay
 * for all ten once more. An answer without a readable list of matches is useless as a whole, unless it says that
 * everybody is missing and that nothing was billed: then it has no matches.
 *
 * @throws ServiceFailure for every status but success, and for a success that cannot be understood
 */
export function readBulkAnswer(answer: HttpAnswer, endpoint: Endpoint): BulkAnswer {
  const { data, members } = readAnswer(answer, endpoint, envelopeSchema);
  const { credits, problem } = readCredits(members.get('credits_consumed'));
  const everybodyIsMissing =
    credits === 0n &&
    typeof data.missing_records === 'number' &&
    data.missing_records > 0 &&
    data.missing_records === data.total_requested_enrichments;
  const matches = data.matches ?? (everybodyIsMissing ? [] : undefined);
  if (!matches) throw mapFailure(answer, endpoint);
  const people = readMatches(matches);
  return {
    httpStatus: answer.status,
    requestId: readRequestId(members.get('request_id')),
    ...people,
    creditsConsumed: credits,
    creditsProblem: problem,
    uniqueEnrichedRecords: data.unique_enriched_records ?? undefined,
    missingRecords: data.missing_records ?? undefined,
    errorCode: data.error_code ?? undefined,
    phoneEnrichment: data.phone_enrichment ?? undefined,
    waterfall: data.waterfall ?? undefined,
    rateLimits: readRateHeaders(answer.headers),
    raw: answer.body,
    contentType: contentTypeOf(answer),
  };
}

function readMatches(elements: readonly unknown[]): Pick<BulkAnswer, 'matches' | 'unreadableMatches'> {
  const unreadableMatches: UnreadableMatch[] = [];
  const matches = elements.map((element, index): Person | null => {
    if (element === null) return null;
    const person = personSchema.safeParse(element);
    if (person.success) return person.data;
    unreadableMatches.push({ index, reason: explainIssues(person.error) });
    return null;
  });
  return { matches, unreadableMatches };
}
