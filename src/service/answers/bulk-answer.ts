import { z } from 'zod';
import type { Credits } from '../../domain/money/decimal.ts';
import type { Person } from '../../domain/identity/person.ts';
import { count, described, readAnswer, text, whole } from './answer.ts';
import { readPerson } from './answered-person.ts';
import { readCredits, readRequestId, type CreditsProblem } from './exact-json.ts';
import { isMissOfAll, isRefusedMiss } from '../failures/error-of-success.ts';
import type { Endpoint, ServiceFailure } from '../failures/failure.ts';
import { mapFailure } from '../failures/map-failure.ts';
import { readRateHeaders, type RateWindow } from '../rate-headers.ts';
import type { HttpAnswer } from '../transport.ts';

export interface BulkAnswer {
  readonly httpStatus: number;
  /** Exact text of the signed 64-bit number; undefined if missing. */
  readonly requestId: string | undefined;
  /**
   * As in the answer; order and number need not be those of `details`. Null: the service found no person, or
   * the element is listed in `unreadableMatches`.
   */
  readonly matches: readonly (Person | null)[];
  /** The service did not process everybody: a person who was not found can be asked for again. */
  readonly partial?: ServiceFailure | undefined;
  /**
   * Elements of `matches` that are no documented person, and one for all elements beyond the limit. They may be billed;
   * no row gets their data.
   */
  readonly unreadableMatches: readonly UnreadableMatch[];
  /** Names of fields that were left out of people because of an unexpected type, such as `contact.email`. */
  readonly unreadFields: readonly string[];
  /** Undefined: `creditsProblem` has the reason, and the reservation is held. */
  readonly creditsConsumed: Credits | undefined;
  readonly creditsProblem: CreditsProblem | undefined;
  /** Number of billed people. */
  readonly uniqueEnrichedRecords: number | undefined;
  readonly missingRecords: number | undefined;
  /**
   * `pending`; or `skipped`: the delivery of an earlier request has the phones, and this request cannot be
   * polled.
   */
  readonly phoneEnrichment: { readonly status: string } | undefined;
  /** `accepted` or `partial_accepted`; with any other status no delivery follows. */
  readonly waterfall: { readonly status: string } | undefined;
  readonly rateLimits: readonly RateWindow[];
  /** The complete decompressed body. */
  readonly raw: Buffer;
}

export interface UnreadableMatch {
  /** Index in `matches`. */
  readonly index: number;
  /** Names of the invalid fields and the expected types, without values. */
  readonly reason: string;
}

/**
 * The status of late results; its values are open, because the interface document does not list all. Other
 * members are dropped: `phone_enrichment` can have an id, rounded by JSON.parse, that cannot be polled.
 */
const laterResults = described(z.object({ status: z.string().max(100), message: text }));

const envelopeSchema = z.looseObject({
  total_requested_enrichments: whole,
  unique_enriched_records: count,
  missing_records: count,
  credits_consumed: z.unknown().optional(),
  matches: z.custom<readonly unknown[]>(Array.isArray).nullish(),
  phone_enrichment: laterResults,
  waterfall: laterResults,
});

/**
 * Reads the answer of a bulk call. Pure.
 *
 * An invalid person does not invalidate the other nine, who are paid for. An answer without a list of matches has none
 * if it says that nothing was billed and does not contradict this; otherwise it is invalid. A 404 with a code that says
 * that no person was found is such an answer too.
 *
 * @throws ServiceFailure for a status other than success, and for an invalid success
 */
export function readBulkAnswer(answer: HttpAnswer, endpoint: Endpoint): BulkAnswer {
  if (isRefusedMiss(answer))
    return {
      ...readBulkAnswer({ ...answer, status: 200 }, endpoint),
      httpStatus: answer.status,
      creditsConsumed: 0n,
      creditsProblem: undefined,
    };
  const { data, json, partial } = readAnswer(answer, endpoint, envelopeSchema);
  const { credits, problem } = readCredits(data.credits_consumed);
  const isFreeMiss = credits === 0n && saysNobody(data);
  const matches = data.matches ?? (isFreeMiss || isMissOfAll(data) ? [] : undefined);
  if (!matches) throw mapFailure(answer, endpoint);
  const people = readMatches(matches);
  return {
    httpStatus: answer.status,
    requestId: readRequestId(json),
    ...people,
    partial,
    creditsConsumed: credits,
    creditsProblem: problem,
    uniqueEnrichedRecords: data.unique_enriched_records ?? undefined,
    missingRecords: data.missing_records ?? undefined,
    phoneEnrichment: data.phone_enrichment ?? undefined,
    waterfall: data.waterfall ?? undefined,
    rateLimits: readRateHeaders(answer.headers),
    raw: answer.body,
  };
}

/** Whether nothing in an answer without a list speaks of a person who was found. */
function saysNobody(data: z.output<typeof envelopeSchema>): boolean {
  const { missing_records: missing, total_requested_enrichments: asked } = data;
  return (
    !data.unique_enriched_records &&
    missing !== 0 &&
    (missing ?? asked) === (asked ?? missing) &&
    data.phone_enrichment?.status !== 'pending'
  );
}

/** Fields that can contradict a row. Former employers only support a match. */
const contradicting = new Set([
  'personal_emails',
  'organization',
  'organization.name',
  'organization.website_url',
  'organization.primary_domain',
  'contact',
  'contact.organization_name',
  'contact.email',
  'contact.contact_emails',
  'contact.contact_emails.email',
]);

/** A call asks for ten people. The work for an answer grows with the square of its people. */
const mostMatches = 100;

function readMatches(
  all: readonly unknown[],
): Pick<BulkAnswer, 'matches' | 'unreadableMatches' | 'unreadFields'> {
  const unreadableMatches: UnreadableMatch[] = [];
  const unread = new Set<string>();
  const elements = all.slice(0, mostMatches);
  const isCut = elements.length < all.length;
  const matches = elements.map((element, index): Person | null => {
    if (element === null) return null;
    const read = readPerson(element);
    if ('unreadable' in read) {
      unreadableMatches.push({ index, reason: read.unreadable });
      return null;
    }
    for (const name of read.unread) unread.add(name);
    const isPartlyRead = isCut || [...read.unread].some((name) => contradicting.has(name));
    return isPartlyRead ? { ...read.person, isPartlyRead } : read.person;
  });
  if (isCut)
    unreadableMatches.push({
      index: mostMatches,
      reason: `the answer has ${all.length} elements, of which ${mostMatches} are read`,
    });
  return { matches, unreadableMatches, unreadFields: [...unread] };
}

export interface MatchAnswer {
  readonly requestId: string | undefined;
  /**
   * Undefined: no person. A miss may also be a stub without names and address but with an organization; the
   * identity rule rejects a stub.
   */
  readonly person: Person | undefined;
  readonly waterfall: { readonly status: string } | undefined;
  /** Not in the interface document; some services send it. */
  readonly creditsConsumed: Credits | undefined;
  readonly rateLimits: readonly RateWindow[];
  readonly raw: Buffer;
}

/** The service bills only returned data, so a person without data counts as not found. */
function hasData(person: Person): boolean {
  return Object.keys(person).length > 0;
}

const matchSchema = z.looseObject({
  person: z.unknown().optional(),
  waterfall: laterResults,
  credits_consumed: z.unknown().optional(),
});

/**
 * Reads the answer of a single call. Pure.
 *
 * @throws ServiceFailure, also for a person in an invalid format: the answer has no other person to keep
 */
export function readMatchAnswer(answer: HttpAnswer, endpoint: Endpoint): MatchAnswer {
  const { data, json } = readAnswer(answer, endpoint, matchSchema);
  const read = readPerson(data.person ?? {});
  if ('unreadable' in read) throw mapFailure(answer, endpoint);
  return {
    requestId: readRequestId(json),
    person: hasData(read.person) ? read.person : undefined,
    waterfall: data.waterfall ?? undefined,
    creditsConsumed: readCredits(data.credits_consumed).credits,
    rateLimits: readRateHeaders(answer.headers),
    raw: answer.body,
  };
}
