import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sql } from 'kysely';
import { worstCaseWithPhones } from '../../domain/money/credit-rules.ts';
import { storedCredits } from '../../domain/money/decimal.ts';
import { awaitedKinds, lateKindsOf, type AskedExtras } from '../../domain/late-results/delivery-kinds.ts';
import { displayForm } from '../../domain/identity/normalise.ts';
import { priceOfAnswer, type AnswerPrice } from './answer-price.ts';
import { compareAnswer } from './compare-answer.ts';
import { logEntriesOf } from './log-entries.ts';
import { DecisionsChanged, requireDecisions } from './require-decisions.ts';
import type { AnsweredRow, AnswerToRecord } from './answered-rows.ts';
import {
  closeAttempt,
  settledCredits,
  type Awaited,
  type ClosedAttempt,
} from '../../ledger/close-attempt.ts';
import { pauseIfExceeded, pauseOverbilled } from '../../ledger/late-credits.ts';
import { releaseClaims } from '../../ledger/release-claims.ts';
import type { RowDecision } from '../../domain/identity/verdicts.ts';
import type { Warehouse } from '../../db/database.ts';
import { databaseErrorCode } from '../../db/postgres-errors.ts';
import { withoutSuppressed } from './without-suppressed.ts';
import { quarantinedPeople, writeAnswer } from './write-answer.ts';
import { reopenDeliveries, reopenDeliveriesOfLostAnswers } from '../../late-results/deliveries.ts';
import { giveEarlierPhones, lockEarlierCalls } from '../../late-results/earlier-phones.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { withoutIds } from '../../privacy/hidden-ids.ts';
import { clearSuppressedRows } from '../../privacy/suppressions.ts';

const serializationFailure = '40001';

/** An answer of a call, with what the call asked for. */
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
      // Another answer named the same new person in the meantime: the id may be that person's.
      else if (databaseErrorCode(error) !== serializationFailure) throw error;
    }
}

async function recordOnce(
  warehouse: Warehouse,
  record: AnswerRecord,
  decisions: readonly RowDecision[],
): Promise<void> {
  const { attemptId, people, asked } = record;
  const { service } = asked;
  const compared = await compareAnswer(warehouse.database, { ...record, service, decisions }, record.answer);
  const { answer, rows: answered, alignment, withdrawals, newKeys, elsewhere } = compared;
  const withRows = new Set(answered.flatMap(({ matchIndex }) => matchIndex ?? [])).size;
  const price = priceOfAnswer(answer, asked, { people: people.length, withRows });
  const { consumed, isCredible } = price;
  // Before the transaction: compressing 600 KB takes some milliseconds, and the transaction holds locks.
  const bodyGzip = await compressBody(answer.raw);
  await warehouse.database.transaction().execute(async (transaction) => {
    const isSkipped = answer.phoneEnrichment?.status === 'skipped';
    const awaited = awaitedOf(record, answer, price);
    const foundIds = answer.matches.flatMap((match) => (match?.id ? [displayForm(match.id)] : []));
    const attempt = await closeAttempt(transaction, attemptId, {
      httpStatus: answer.httpStatus,
      requestId: answer.requestId,
      creditsConsumed: consumed,
      // Of a price that is not credible, the pause notes the reason.
      reason:
        consumed === undefined && isCredible
          ? `credits_consumed is ${answer.creditsProblem ?? 'missing'}`
          : null,
      foundIds,
      foundPeople: price.found,
      awaited,
      phonesWithEarlier: isSkipped,
    });
    if (!attempt) return;
    await requireDecisions(transaction, { service, decisions, decided: attempt.decisions, withdrawals });
    const { rows, namesSuppressed, personIds, suppressedMatches } = await withoutSuppressed(
      transaction,
      attempt,
      answer.partial ? answered.filter((row) => isProcessed(row, attempt)) : answered,
      // With the ids that the service stated: the list can have them.
      { service, matches: record.answer.matches, keysOf: elsewhere.keysOf },
    );
    if (namesSuppressed)
      await sql`
        update attempts set found_ids = ${withoutIds('found_ids', personIds)} where attempt_id = ${attemptId}
      `.execute(transaction);
    const earlier = isSkipped ? await lockEarlierCalls(transaction, { attemptId, service }, idsOf(rows)) : [];
    // Only such a call has an address for deliveries.
    if (lateKindsOf(asked).length > 0) await reopenDeliveries(transaction, attemptId);
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
      entries: logEntriesOf({ ...record, attempt, rows, others, withdrawals, newKeys, elsewhere }),
      credits: settledCredits(attempt, awaited, consumed),
    });
    await reopenDeliveriesOfLostAnswers(transaction, service, foundIds);
    if (namesSuppressed) await clearSuppressedRows(transaction, attempt.runId, suppressedOf(rows));
    await giveEarlierPhones(transaction, attemptId, earlier);
    // Last, because a pause locks the budgets and the run.
    if (!isCredible)
      await pauseOverbilled(transaction, attempt, 'credits_consumed is too large to be a price');
    else if (attempt.decided) await pauseIfExceeded(transaction, attempt);
    else if ((consumed ?? 0n) > storedCredits(attempt.reserved))
      await pauseOverbilled(transaction, attempt, 'billed more than reserved');
  });
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
