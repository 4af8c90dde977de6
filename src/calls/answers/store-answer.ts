import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { worstCaseWithPhones, maxCredibleCreditsPerPerson } from '../../domain/money/credit-rules.ts';
import { parseStoredCredits, creditsFromWhole, type Credits } from '../../domain/money/decimal.ts';
import {
  lateKindsToAwait,
  lateKindsRequestedBy,
  type RequestedExtras,
} from '../../domain/late-results/delivery-kinds.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import {
  closeAttempt,
  releaseClaims,
  recordAnswerAfterDecision,
  type AwaitedResults,
  type ClosedAttempt,
  type ClosingAnswer,
  pauseOverbilledRun,
} from '../../ledger/close-attempt.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { reopenDeliveries } from '../../late-results/deliveries.ts';
import { expectResults } from '../../late-results/expected-results.ts';
import { isEmptyPerson } from '../../domain/identity/identity-evidence.ts';
import type { Person } from '../../domain/identity/person.ts';
import { cacheAnswer, queueAnswers, type DigestibleAnswer } from '../../people/digest-queue.ts';
import type { BulkAnswer } from '../../service/answers/bulk-answer.ts';

/** The parts of a bulk call's answer that the product stores and digests. */
export type AnswerToRecord = DigestibleAnswer &
  Pick<BulkAnswer, 'httpStatus' | 'requestId' | 'creditsConsumed' | 'creditsProblem' | 'raw'> &
  Partial<Pick<BulkAnswer, 'uniqueEnrichedRecords' | 'missingRecords' | 'phoneEnrichment'>>;

interface AnswerRecord {
  readonly attemptId: string;
  /** Number of people that the call was made for. */
  readonly people: number;
  readonly answer: AnswerToRecord;
  readonly asked: RequestedExtras & { readonly service: string };
  /** Seconds from the answer to the first poll, and to the end of the wait for late results. */
  readonly lateResults: { readonly pollAfterSeconds: number; readonly deadlineSeconds: number };
}

/**
 * Stores an answer: one transaction stores the body, closes the attempt, settles the credits, queues the answer for the
 * digest, and pauses the run if the service billed more than was reserved. Storing an answer twice changes nothing. The
 * answer to an attempt of unknown cost is stored too, but a decision of the operator stays.
 */
export async function storeAnswer(warehouse: Warehouse, record: AnswerRecord): Promise<void> {
  const { attemptId, answer } = record;
  // The body is compressed before the transaction, because compressing 600 KB takes some milliseconds.
  const body = await promisify(gzip)(answer.raw, { level: 1 });
  const price = priceOfAnswer(answer, record.asked, record.people);
  const closing = closingOf(answer, price, awaitedOf(record, answer, price));
  const storing = storingOf(record, closing, body);
  // An answer without special circumstances needs one statement, which locks the shared budgets for the shortest time.
  const isUsual =
    !answer.partial && price.isCredible && (price.consumed ?? 0n) <= creditsFromWhole(record.people);
  const stored =
    isUsual && (await closeAttempt(warehouse.database, attemptId, closing, storing, ['admitted']));
  if (!stored)
    await warehouse.database
      .transaction()
      .execute((transaction) => storeUnusual(transaction, record, { price, closing, storing }));
  cacheAnswer(warehouse.database, attemptId, answer);
}

/** Additional `with` queries of the statement that closes the attempt. They store the answer. */
function storingOf(
  { attemptId, asked, answer }: AnswerRecord,
  { foundPeople: found, awaited }: ClosingAnswer,
  body: Buffer,
): RawBuilder<unknown> {
  const stored = sql`select "attemptId" from closed`;
  const kinds = lateKindsRequestedBy(asked);
  const listed = answer.matches.flatMap((match) =>
    match?.id ? [{ personId: displayForm(match.id), emails: [match.email] }] : [],
  );
  const expected = expectResults(stored, attemptId, listed, { found, kinds, awaited: awaited?.kinds ?? [] });
  return sql`
    stored as (
      insert into raw_answers (attempt_id, body_gzip) select "attemptId", ${body} from closed
      on conflict do nothing
    ), queued as (${queueAnswers(stored)})
    ${kinds.length === 0 ? sql`` : sql`, expected as (${expected})`}`;
}

/** Stores an answer that came late, is partial, or has an unexpected price. This needs several statements. */
async function storeUnusual(
  transaction: Transaction<Tables>,
  { attemptId, asked, answer }: AnswerRecord,
  { price, closing, storing }: { price: AnswerPrice; closing: ClosingAnswer; storing: RawBuilder<unknown> },
): Promise<void> {
  const attempt =
    (await closeAttempt(transaction, attemptId, closing, storing, ['admitted', 'unknown'])) ??
    (await recordAnswerAfterDecision(transaction, attemptId, closing, storing));
  if (!attempt) return;
  // The service does not bill people who are missing in a partial answer, so the operator has nothing to decide about
  // them.
  if (answer.partial) await releaseClaims(transaction, attemptId);
  if (lateKindsRequestedBy(asked).length > 0) await reopenDeliveries(transaction, attemptId);
  // The pause comes last, because it locks the run.
  await pauseIfOverbilled(transaction, attempt, price);
}

/** Collects what closes the attempt. An attempt gets a reason if its price is missing or unreadable. */
function closingOf(
  answer: AnswerToRecord,
  { consumed, isCredible, found }: AnswerPrice,
  awaited: AwaitedResults | undefined,
): ClosingAnswer {
  // If the price is not credible, the pause of the run already gives this as its reason.
  const isUnstated = consumed === undefined && isCredible;
  return {
    httpStatus: answer.httpStatus,
    requestId: answer.requestId,
    creditsConsumed: consumed,
    reason: isUnstated ? `credits_consumed is ${answer.creditsProblem ?? 'missing'}` : null,
    foundIds: answer.matches.flatMap((match) => (match?.id ? [displayForm(match.id)] : [])),
    foundPeople: found,
    awaited,
    phonesWithEarlier: answer.phoneEnrichment?.status === 'skipped',
  };
}

/** Pauses the run if the price exceeds the reservation, or is too large to be true. */
async function pauseIfOverbilled(
  transaction: Transaction<Tables>,
  attempt: ClosedAttempt,
  { consumed = 0n, isCredible }: AnswerPrice,
): Promise<void> {
  if (!isCredible)
    await pauseOverbilledRun(transaction, attempt, 'credits_consumed is too large to be a price');
  else if (consumed > parseStoredCredits(attempt.reserved))
    await pauseOverbilledRun(transaction, attempt, 'billed more than reserved');
}

/**
 * The late results (phones, waterfall e-mails) to wait for; undefined if there are none. Only a call for phones has a
 * known worst case: the vendors of a waterfall set their own prices.
 */
function awaitedOf(
  { asked, lateResults }: AnswerRecord,
  answer: AnswerToRecord,
  { consumed, found }: AnswerPrice,
): AwaitedResults | undefined {
  const kinds = lateKindsToAwait(lateKindsRequestedBy(asked), {
    found,
    phoneStatus: answer.phoneEnrichment?.status,
    waterfallStatus: answer.waterfall?.status,
  });
  if (kinds.length === 0) return undefined;
  const onlyPhones = kinds.every((kind) => kind === 'phone');
  return {
    kinds,
    ...lateResults,
    worstCase: onlyPhones && consumed !== undefined ? worstCaseWithPhones(consumed, found) : undefined,
  };
}

export type AnswerPrice = ReturnType<typeof priceOfAnswer>;

/** Reads the cost of a call from its answer. @param people number of people that the call was made for */
export function priceOfAnswer(answer: AnswerToRecord, asked: RequestedExtras, people: number) {
  const { creditsConsumed, creditsProblem } = answer;
  const isCredible =
    creditsProblem !== 'too-large' && (creditsConsumed ?? 0n) <= maxCredibleCreditsPerPerson * BigInt(people);
  const stated = isCredible ? creditsConsumed : undefined;
  const found = countFound(answer, stated, people);
  // A waterfall that found no person gets no delivery, and only a delivery could state a price. Such a call is free.
  const isFreeMiss = asked.waterfall.length > 0 && creditsProblem === 'absent' && found === 0;
  return {
    /** Credits that the call has cost; undefined if unknown. Unknown cost stays reserved. */
    consumed: stated ?? (isFreeMiss ? 0n : undefined),
    /** False if the stated price is too high to be true. Such a price is ignored. */
    isCredible,
    /** Number of people that the service found. The late results of each of these people can cost credits. */
    found,
  };
}

/**
 * Counts the people that the service found, as the highest of three counts, because an answer may list fewer people
 * than it bills and delivers. A match that contains only a company gets no late results and does not count. No count
 * can exceed the number of people in the call.
 */
function countFound(answer: AnswerToRecord, consumed: Credits | undefined, people: number): number {
  const { uniqueEnrichedRecords: stated = 0, missingRecords: missing } = answer;
  const unique = stated <= people ? stated : 0;
  const countsEverybody = missing === people - unique;
  const isSomebody = (match: Person | null): boolean =>
    match !== null && ((Boolean(match.id) && !countsEverybody) || !isEmptyPerson(match));
  const listed = answer.matches.filter(isSomebody).length + answer.unreadableMatches.length;
  if (unique > 0 && countsEverybody && answer.matches.length > people) return unique;
  const billed = countsEverybody ? 0 : Number((consumed ?? 0n) / creditsFromWhole(1));
  return Math.min(people, Math.max(listed, unique, billed));
}
