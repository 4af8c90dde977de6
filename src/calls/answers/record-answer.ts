import { promisify, isDeepStrictEqual } from 'node:util';
import { gzip } from 'node:zlib';
import { sql, type Transaction } from 'kysely';
import { worstCaseWithPhones, mostCrediblePerPerson } from '../../domain/money/credit-rules.ts';
import { storedCredits, wholeCredits, formatCredits, type Credits } from '../../domain/money/decimal.ts';
import {
  awaitedKinds,
  lateKindsOf,
  askedFieldGroups,
  type AskedExtras,
} from '../../domain/late-results/delivery-kinds.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import { compareAnswer, type ComparedAnswer, type Withdrawal } from './compare-answer.ts';
import type { AnsweredRow, AnswerToRecord, UnmatchedPerson } from './answered-rows.ts';
import {
  closeAttempt,
  settledCredits,
  releaseClaims,
  type Awaited,
  type ClosedAttempt,
  type ClosingAnswer,
  type SettledCredits,
} from '../../ledger/close-attempt.ts';
import { pauseIfExceeded, pauseOverbilled } from '../../ledger/late-credits.ts';
import type { RowDecision, ContactDecision } from '../../domain/identity/verdicts.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { isOvertaken } from '../../db/postgres-errors.ts';
import { withoutSuppressed } from './without-suppressed.ts';
import { reopenDeliveries } from '../../late-results/deliveries.ts';
import { giveEarlierPhones, lockEarlierCalls } from '../../late-results/earlier-phones.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { clearSuppressedRows } from '../../suppression/drop-suppressed.ts';
import { withoutIds } from '../../suppression/suppression-list.ts';
import { withdrawalOf } from '../../people/contacts/apply-changes.ts';
import { logJson, type LogEntries } from '../../people/log/append-to-log.ts';
import { personKey } from '../../people/log/observation.ts';
import { isStub } from '../../domain/identity/identity-evidence.ts';
import type { Person } from '../../domain/identity/person.ts';
import { decisionsOf } from '../../people/decisions/contact-decisions.ts';
import { unnestContacts } from '../../keys/contact-key.ts';
import type { Alignment } from '../../domain/identity/alignment.ts';
import { keysLearned } from '../../people/known/lookup-history.ts';

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

interface ComparedRecord {
  readonly compared: ComparedAnswer;
  readonly decisions: readonly RowDecision[];
  readonly price: AnswerPrice;
  readonly bodyGzip: Buffer;
}

async function writeOnce(
  transaction: Transaction<Tables>,
  record: AnswerRecord,
  { compared, decisions, price, bodyGzip }: ComparedRecord,
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

/**
 * The entries of the log: the observation of each person, and the matches of contacts with these people. A person
 * without a row was paid for as well: a contact that is shown to be that person gets the data, and other contacts that
 * could be that person lose theirs.
 */
function logEntriesOf(answered: {
  readonly attemptId: string;
  readonly source: string;
  readonly attempt: ClosedAttempt;
  readonly rows: readonly AnsweredRow[];
  readonly others: readonly UnmatchedPerson[];
  readonly withdrawals: readonly Withdrawal[];
  readonly newKeys: ReadonlySet<string>;
}): LogEntries {
  const { attemptId, source, attempt, newKeys } = answered;
  const call = { run_id: attempt.runId, attempt_id: attemptId };
  const found = answered.rows.flatMap(({ facts, ...row }) =>
    facts
      ? [{ ...row, facts, key: personKey(facts.person_id, { ...row, runId: attempt.runId, attemptId }) }]
      : [],
  );
  return {
    // Two rows can have the same person.
    observations: [...new Map([...answered.others, ...found].map((each) => [each.key, each])).values()].map(
      ({ facts, key }) => ({
        ...facts,
        ...call,
        person_key: key,
        is_new: newKeys.has(key),
        kind: 'answer',
        asked_at: attempt.admittedAt,
        delivery_id: null,
      }),
    ),
    matches: [
      ...answered.withdrawals.map(({ contact, reason }) => withdrawalOf(contact, reason, attempt.runId)),
      ...found.map(({ key, contactId, rowNumber, evidence, matchKeys }) => ({
        ...call,
        source,
        contact_id: contactId,
        person_key: key,
        evidence: evidence ?? '',
        asked: true,
        row_number: rowNumber,
        match_keys: matchKeys,
        decided_at: attempt.admittedAt,
      })),
    ],
  };
}

export interface AnswerPrice {
  /** Undefined: not known, and the reservation is held. */
  readonly consumed: Credits | undefined;
  /** False: the stated figure is too large to be a price, and counts as not stated. */
  readonly isCredible: boolean;
  /** Number of people whom the service found: late results come, and cost, for each of them. */
  readonly found: number;
}

/**
 * Reads the cost of a call from its answer.
 *
 * @param options.people number of people whom the call asked for
 * @param options.withRows number of people of the answer who have a row
 */
export function priceOfAnswer(
  answer: AnswerToRecord,
  asked: AskedExtras,
  { people, withRows }: { readonly people: number; readonly withRows: number },
): AnswerPrice {
  const { creditsConsumed, creditsProblem } = answer;
  const isCredible =
    creditsProblem !== 'too-large' && (creditsConsumed ?? 0n) <= mostCrediblePerPerson * BigInt(people);
  const stated = isCredible ? creditsConsumed : undefined;
  const found = countFound(answer, stated, { people, withRows });
  // A waterfall that found no person: no delivery follows that could state a price.
  const isFreeMiss = asked.waterfall.length > 0 && creditsProblem === 'absent' && found === 0;
  return { consumed: stated ?? (isFreeMiss ? 0n : undefined), isCredible, found };
}

/**
 * Counts the people whom the service found. If the answer counts everybody, it is that count, or the people with a row
 * if they are more: the answer may list others in addition. Otherwise it is the highest of three figures. An answer may
 * list fewer people than it was billed for, and late results come, and cost, for all of them. A match that has only a
 * company does not count: no late result comes for it. If the answer counts everybody as missing, a match that has only
 * a company and an id does not count either. A count above the people whom the call asked for says nothing.
 */
function countFound(
  answer: AnswerToRecord,
  consumed: Credits | undefined,
  { people, withRows }: { readonly people: number; readonly withRows: number },
): number {
  const { uniqueEnrichedRecords: stated = 0, missingRecords: missing } = answer;
  const unique = stated <= people ? stated : 0;
  const countsEverybody = missing === people - unique;
  if (unique > 0 && countsEverybody) return Math.max(unique, withRows);
  const isSomebody = (match: Person | null): boolean =>
    match !== null && ((Boolean(match.id) && !countsEverybody) || !isStub(match));
  const listed = answer.matches.filter(isSomebody).length + answer.unreadableMatches.length;
  const billed = countsEverybody ? 0 : Number((consumed ?? 0n) / wholeCredits(1));
  return Math.min(people, Math.max(listed, unique, billed));
}

/** Somebody decided about a contact (`enrich review`) after the answer was compared with the warehouse. */
class DecisionsChanged extends Error {
  readonly decisions: readonly RowDecision[];

  constructor(decisions: readonly RowDecision[]) {
    super('decisions about contacts have changed');
    this.decisions = decisions;
  }
}

/**
 * Requires that an answer was compared with the decisions that hold now. The caller holds the lock of the suppression
 * list, for which new decisions wait.
 *
 * @param compared.decisions about the contacts of the call, as the answer was compared with them
 * @param compared.decided the same as the transaction has read them
 * @throws DecisionsChanged
 */
async function requireDecisions(
  transaction: Transaction<Tables>,
  compared: {
    readonly service: string;
    readonly decisions: readonly RowDecision[];
    readonly decided: readonly RowDecision[];
    readonly withdrawals: readonly Withdrawal[];
  },
): Promise<void> {
  const { service, decisions, decided, withdrawals } = compared;
  if (!isDeepStrictEqual(decided, decisions)) throw new DecisionsChanged(decided);
  if (withdrawals.length === 0) return;
  const contacts = withdrawals.map(({ contact }) => contact);
  const { rows } = await sql<{ decisions: readonly ContactDecision[] | null }>`
    select ${decisionsOf(sql`${service}`, sql`w.source`, sql`w.contact_id`)} as decisions
    from ${unnestContacts(contacts)} with ordinality as w (source, contact_id, place)
    order by w.place
  `.execute(transaction);
  if (rows.some((row, index) => !isDeepStrictEqual(row.decisions, contacts[index]!.decisions)))
    throw new DecisionsChanged(decided);
}

/** What an answer brought, without people on the suppression list. */
interface AnswerToWrite {
  readonly attemptId: string;
  readonly asked: AskedExtras & { readonly service: string };
  /** Null: the answer contains a suppressed person, and its body is not kept. */
  readonly bodyGzip: Buffer | null;
  readonly rows: readonly AnsweredRow[];
  /** People of the answer without a row. */
  readonly others: readonly UnmatchedPerson[];
  readonly quarantined: ReturnType<typeof quarantinedPeople>;
  readonly entries: LogEntries;
  /** Undefined: the credits stay as they are. */
  readonly credits: SettledCredits | undefined;
}

/**
 * Writes the body, the outcomes of the rows, the log with its projections, the lookup history and the credits. The
 * function `write_answer` of the database does it in one statement.
 */
async function writeAnswer(
  transaction: Transaction<Tables>,
  { attemptId, asked, bodyGzip, rows, others, quarantined, entries, credits }: AnswerToWrite,
): Promise<void> {
  const answered = rows.map((row) => ({
    row_number: row.rowNumber,
    outcome: row.outcome,
    is_lookup: row.isLookup,
    reason: row.reason,
    person_id: row.fields?.person_id ?? null,
    evidence: row.evidence,
  }));
  const learned = [
    ...rows.flatMap(({ rowNumber, fields, facts }) =>
      [...new Set([...keysLearned(fields), ...(facts?.identity_keys ?? [])])].map((key) =>
        learnedKey(key, rowNumber),
      ),
    ),
    ...others.flatMap(({ facts }) =>
      facts.person_id === null ? [] : facts.identity_keys.map((key) => learnedKey(key, null)),
    ),
  ];
  const log = logJson(entries.observations);
  await sql`
    select write_answer(${attemptId}, ${asked.service}, ${bodyGzip}::bytea,
      ${JSON.stringify(answered)}::jsonb, ${JSON.stringify(quarantined)}::jsonb,
      ${log.observations}::jsonb, ${log.organizations}::jsonb, ${JSON.stringify(entries.matches)}::jsonb,
      ${JSON.stringify(learned)}::jsonb, ${askedFieldGroups(asked)}::text[],
      ${credits?.released ?? null}::numeric, ${credits ? formatCredits(credits.consumed) : null}::numeric)
  `.execute(transaction);
}

/** People of an answer who match no row, with the reasons. */
function quarantinedPeople(alignment: Alignment, unreadable: AnswerToRecord['unreadableMatches']) {
  return [
    ...alignment.quarantined.map(({ matchIndex, reason }) => ({ match_index: matchIndex, reason })),
    ...unreadable.map(({ index, reason }) => ({ match_index: index, reason: `unreadable: ${reason}` })),
  ];
}

function learnedKey(key: string, rowNumber: number | null) {
  return { identity_key: key, row_number: rowNumber };
}
