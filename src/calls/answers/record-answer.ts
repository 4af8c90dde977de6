import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sql, type Transaction } from 'kysely';
import { worstCaseWithPhones } from '../../domain/money/credit-rules.ts';
import { storedCredits } from '../../domain/money/decimal.ts';
import { awaitedKinds, lateKindsOf, type AskedExtras } from '../../domain/late-results/delivery-kinds.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import { priceOfAnswer, type AnswerPrice } from './answer-price.ts';
import { compareAnswer, type ComparedAnswer } from './compare-answer.ts';
import { logEntriesOf } from './log-entries.ts';
import { DecisionsChanged, requireDecisions } from './require-decisions.ts';
import type { AnsweredRow, AnswerToRecord } from './answered-rows.ts';
import {
  closeAttempt,
  settledCredits,
  type Awaited,
  type ClosedAttempt,
  type ClosingAnswer,
} from '../../ledger/close-attempt.ts';
import { pauseIfExceeded, pauseOverbilled } from '../../ledger/late-credits.ts';
import { releaseClaims } from '../../ledger/release-claims.ts';
import type { RowDecision } from '../../domain/identity/verdicts.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { isOvertaken } from '../../db/postgres-errors.ts';
import { withoutSuppressed } from './without-suppressed.ts';
import { quarantinedPeople, writeAnswer } from './write-answer.ts';
import { reopenDeliveries } from '../../late-results/deliveries.ts';
import { giveEarlierPhones, lockEarlierCalls } from '../../late-results/earlier-phones.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { clearSuppressedRows } from '../../suppression/drop-suppressed.ts';
import { withoutIds } from '../../suppression/suppression-list.ts';

interface AnswerRecord {
  readonly attemptId: string;
  readonly source: string;
  readonly people: readonly OpenPerson[];
  readonly answer: AnswerToRecord;
  readonly asked: AskedExtras & { readonly service: string };
  /** How long to wait before polling, and in all; in seconds from the answer. */
  readonly lateResults: { readonly pollAfterSeconds: number; readonly deadlineSeconds: number };
}

/**
 * Records an answer in one transaction: the raw body, the outcomes of the rows, the log with its projections, the
 * lookup history and the credits. If the service billed more than was reserved, the transaction also pauses the run.
 *
 * Recording an attempt again changes nothing, because the reply to an earlier commit can be lost. The answer of an
 * attempt that was marked unknown is recorded too. An operator's decision stays.
 *
 * @param record.people the requested people, in the order of `details`. A partial answer leaves the people open whom it
 *   does not have
 */
export async function recordAnswer(warehouse: Warehouse, record: AnswerRecord): Promise<void> {
  // Few contacts have decisions, so the first attempt expects none. The transaction reads them with its first lock.
  let decisions: readonly RowDecision[] = [];
  for (;;)
    try {
      return await recordOnce(warehouse, record, decisions);
    } catch (error) {
      if (error instanceof DecisionsChanged) decisions = error.decisions;
      // Such as by another answer that named the same new person: the id may be of that person.
      else if (!isOvertaken(error)) throw error;
    }
}

async function recordOnce(
  warehouse: Warehouse,
  record: AnswerRecord,
  decisions: readonly RowDecision[],
): Promise<void> {
  const { people, asked } = record;
  const call = { ...record, service: asked.service, decisions };
  const compared = await compareAnswer(warehouse.database, call, record.answer);
  const withRows = new Set(compared.rows.flatMap(({ matchIndex }) => matchIndex ?? [])).size;
  const price = priceOfAnswer(compared.answer, asked, { people: people.length, withRows });
  // Before the transaction: compressing 600 KB takes some milliseconds, and the transaction holds locks.
  const bodyGzip = await compressBody(record.answer.raw);
  await warehouse.database
    .transaction()
    .execute((transaction) => writeOnce(transaction, record, { compared, decisions, price, bodyGzip }));
}

interface AnswerToWrite {
  readonly compared: ComparedAnswer;
  readonly decisions: readonly RowDecision[];
  readonly price: AnswerPrice;
  readonly bodyGzip: Buffer;
}

async function writeOnce(
  transaction: Transaction<Tables>,
  record: AnswerRecord,
  { compared, decisions, price, bodyGzip }: AnswerToWrite,
): Promise<void> {
  const { attemptId, asked } = record;
  const { service } = asked;
  const { answer, rows: answered, alignment, withdrawals, newKeys } = compared;
  const closing = closingOf(answer, price, awaitedOf(record, answer, price));
  const attempt = await closeAttempt(transaction, attemptId, closing);
  if (!attempt) return;
  await requireDecisions(transaction, { service, decisions, decided: attempt.decisions, withdrawals });
  const { rows, namesSuppressed, personIds, suppressedMatches } = await withoutSuppressed(
    transaction,
    attempt,
    answer.partial ? answered.filter((row) => isProcessed(row, attempt)) : answered,
    // With the ids that the service stated: the list can have them.
    { service, matches: record.answer.matches },
  );
  if (namesSuppressed)
    await sql`
      update attempts set found_ids = ${withoutIds('found_ids', personIds)} where attempt_id = ${attemptId}
    `.execute(transaction);
  const earlier = closing.phonesWithEarlier
    ? await lockEarlierCalls(transaction, { attemptId, service }, idsOf(rows))
    : [];
  const others = compared.unmatched.filter(({ matchIndex }) => !suppressedMatches.has(matchIndex));
  // Of people whom the answer does not have, if the call was unknown: no decision about the call follows.
  if (answer.partial) await releaseClaims(transaction, attemptId);
  await writeAnswer(transaction, {
    attemptId,
    asked,
    // A body is kept only if no suppressed person is in it.
    bodyGzip: namesSuppressed ? null : bodyGzip,
    rows,
    others,
    quarantined: quarantinedPeople(alignment, answer.unreadableMatches),
    entries: logEntriesOf({ ...record, attempt, rows, others, withdrawals, newKeys }),
    credits: settledCredits(attempt, closing.awaited, price.consumed),
  });
  await giveEarlierPhones(transaction, attemptId, earlier);
  await reopenDeliveries(transaction, { attemptId, service }, closing.foundIds);
  if (namesSuppressed) await clearSuppressedRows(transaction, attempt.runId, suppressedOf(rows));
  // Last, because a pause locks the budgets and the run.
  await pauseIfOverbilled(transaction, attempt, price);
}

function closingOf(
  answer: AnswerToRecord,
  { consumed, isCredible, found }: AnswerPrice,
  awaited: Awaited | undefined,
): ClosingAnswer {
  // Of a price that is not credible, the pause notes the reason.
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

async function pauseIfOverbilled(
  transaction: Transaction<Tables>,
  attempt: ClosedAttempt,
  { consumed = 0n, isCredible }: AnswerPrice,
): Promise<void> {
  if (!isCredible) await pauseOverbilled(transaction, attempt, 'credits_consumed is too large to be a price');
  else if (attempt.decided) await pauseIfExceeded(transaction, attempt);
  else if (consumed > storedCredits(attempt.reserved))
    await pauseOverbilled(transaction, attempt, 'billed more than reserved');
}

/**
 * Whether a partial answer decides about a row. The other rows stay open: the service may know these people. An erased
 * row has its outcome already.
 */
function isProcessed({ outcome, rowNumber }: AnsweredRow, { erased }: ClosedAttempt): boolean {
  return outcome !== 'not_found' || erased.includes(rowNumber);
}

/** The form in which `raw_answers` has a body. */
export function compressBody(raw: Buffer): Promise<Buffer> {
  return promisify(gzip)(raw, { level: 1 });
}

function idsOf(rows: readonly AnsweredRow[]): string[] {
  return rows.flatMap(({ fields }) => fields?.person_id ?? []);
}

/** Returns the late results that are due and their worst case; undefined if none is due. */
function awaitedOf(
  { asked, lateResults }: AnswerRecord,
  answer: AnswerToRecord,
  { consumed, found }: AnswerPrice,
): Awaited | undefined {
  const kinds = awaitedKinds(lateKindsOf(asked), {
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

function suppressedOf(rows: readonly AnsweredRow[]): number[] {
  return rows.flatMap(({ outcome, rowNumber }) => (outcome === 'suppressed' ? [rowNumber] : []));
}
