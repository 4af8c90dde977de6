import { sql, type Transaction } from 'kysely';
import type { AlignedRow, Alignment } from '../../domain/identity/alignment.ts';
import { contactFields, type ContactFields } from '../../domain/warehouse/contact-fields.ts';
import { keepsMatchKeys } from '../../domain/identity/identity-evidence.ts';
import { keysOfPerson } from '../../domain/identity/keys-of-person.ts';
import { matchKeysOfMatch } from '../../domain/identity/match-keys.ts';
import type { Person } from '../../domain/identity/person.ts';
import type { ClosedAttempt } from '../../ledger/close-attempt.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { emailHashes } from '../../people/known/email-hashes.ts';
import type { KnownAboutAnswer } from './known-elsewhere.ts';
import { keyOfId, keyOfStranger, factsOfAnswer, type ObservedFacts } from '../../people/log/observation.ts';
import { extendEntries } from '../../privacy/extend-entries.ts';
import { keysInLog } from '../../privacy/keys-in-log.ts';
import { keysOfRows, listedRows } from '../../privacy/suppressions.ts';
import type { BulkAnswer } from '../../service/answers/bulk-answer.ts';
import { documentedPerson } from '../../service/answers/documented-person.ts';
import type { Tables } from '../../db/schema.ts';

/** The parts of a bulk call's answer that the product records. */
export type AnswerToRecord = Pick<
  BulkAnswer,
  'httpStatus' | 'requestId' | 'matches' | 'unreadableMatches' | 'creditsConsumed' | 'creditsProblem' | 'raw'
> &
  Partial<
    Pick<
      BulkAnswer,
      | 'exactMatches'
      | 'partial'
      | 'uniqueEnrichedRecords'
      | 'missingRecords'
      | 'phoneEnrichment'
      | 'waterfall'
    >
  >;

/** A row of the export with its outcome, in the form of the tables. */
export interface AnsweredRow {
  readonly rowNumber: number;
  readonly contactId: string;
  readonly outcome: AlignedRow['outcome'] | 'suppressed';
  /** Whether the keys of the row count as asked for. Not those of a row that the suppression list has. */
  readonly isLookup: boolean;
  readonly reason: string | null;
  readonly evidence: string | null;
  /** With weak evidence, and of decisions: `matchKeysOfMatch`. */
  readonly matchKeys: readonly number[] | null;
  readonly matchIndex: number | undefined;
  /** The fields of the row's person. */
  readonly fields: ContactFields | undefined;
  /** What the log keeps about that person. */
  readonly facts: ObservedFacts | undefined;
}

/** A person in the answer without a row: paid for, and possibly another contact. */
export interface UnmatchedPerson {
  readonly matchIndex: number;
  /** In the log. */
  readonly key: string;
  readonly facts: ObservedFacts;
}

/** Turns an aligned answer into one result for each requested row, and lists the people without a row. */
export function answeredRows(
  people: readonly OpenPerson[],
  alignment: Alignment,
  answer: AnswerToRecord,
): { readonly rows: AnsweredRow[]; readonly unmatched: UnmatchedPerson[] } {
  const inPlace = answer.matches.length === people.length;
  const unreadable = new Set(inPlace ? answer.unreadableMatches.map(({ index }) => index) : []);
  const isCut = answer.unreadableMatches.some(({ index }) => index >= answer.matches.length);
  const factsAt = (person: Person, matchIndex: number): ObservedFacts =>
    factsOfAnswer(person, documentedPerson(person, answer.exactMatches?.[matchIndex]), answer.waterfall);
  const unmatched = alignment.quarantined.flatMap(({ matchIndex }) => {
    const person = answer.matches[matchIndex];
    if (!person) return [];
    const unmatchedFacts = factsAt(person, matchIndex);
    const id = unmatchedFacts.person_id;
    const key = id === null ? keyOfStranger(person) : keyOfId(id);
    return [{ matchIndex, key, facts: unmatchedFacts }];
  });
  const rows = people.map(({ rowNumber, contactId, identity }, index): AnsweredRow => {
    const row = alignment.rows[index]!;
    const answered = {
      rowNumber,
      contactId,
      outcome: row.outcome,
      isLookup: true,
      reason: null,
      evidence: null,
      matchKeys: null,
      matchIndex: undefined,
      fields: undefined,
      facts: undefined,
    };
    switch (row.outcome) {
      case 'enriched': {
        const { person, matchIndex, evidence } = row;
        const matchKeys = keepsMatchKeys(evidence) ? matchKeysOfMatch(identity, person, emailHashes) : null;
        const fields = contactFields(person);
        return { ...answered, evidence, matchKeys, matchIndex, fields, facts: factsAt(person, matchIndex) };
      }
      case 'identity_mismatch':
        return { ...answered, reason: row.reason };
      case 'not_found':
        // The service returned something for this row and may have billed it, so the row is no `not_found`.
        return isCut || unreadable.has(index)
          ? { ...answered, outcome: 'identity_mismatch', reason: 'the service returned no readable person' }
          : answered;
    }
  });
  return { rows, unmatched };
}

/**
 * Removes people who are on the suppression list, by the keys of the row, of the answer and of earlier answers. A
 * person can be suppressed while the call is in flight, and an answer can have a suppressed address that the export did
 * not have.
 *
 * @returns the rows; whether the answer contains a suppressed person, also one without a row; and the ids and the
 *   indexes of these people
 */
export async function withoutSuppressed(
  transaction: Transaction<Tables>,
  { runId, hasSuppressions, erased }: ClosedAttempt,
  rows: readonly AnsweredRow[],
  {
    service,
    matches,
    keysOf,
  }: Pick<KnownAboutAnswer, 'keysOf'> & {
    readonly service: string;
    readonly matches: AnswerToRecord['matches'];
  },
): Promise<{
  readonly rows: readonly AnsweredRow[];
  readonly namesSuppressed: boolean;
  readonly personIds: readonly string[];
  /** Indexes of `matches`. */
  readonly suppressedMatches: ReadonlySet<number>;
}> {
  // A negative number identifies a person in the answer, a positive number a row.
  const people = matches.flatMap((match, index) => (match ? [{ rowNumber: -1 - index, match }] : []));
  const rowNumbers = rows.map(({ rowNumber }) => rowNumber);
  const learned = people.flatMap(({ rowNumber, match }) =>
    keysOfPerson(match).map((key) => ({ rowNumber, key })),
  );
  const identified = people.flatMap(({ rowNumber, match }) => {
    const { person_id: personId } = contactFields(match);
    if (personId === null) return [];
    const personKey = keyOfId(personId);
    return (keysOf(personKey) ?? [personKey]).map((key) => ({ rowNumber, key }));
  });
  const keys = sql`
    ${keysOfRows(runId, sql`select unnest(${rowNumbers}::int[])`)} union all
    select * from unnest(${learned.map(({ rowNumber }) => rowNumber)}::int[], ${learned.map(({ key }) => key)}::text[])
    union all
    ${keysInLog(
      service,
      sql`select * from unnest(${identified.map(({ rowNumber }) => rowNumber)}::int[],
        ${identified.map(({ key }) => key)}::text[]) as identified (row_number, person_key)`,
    )}
  `;
  const listed = hasSuppressions
    ? await sql<{ row_number: number }>`${listedRows(keys)}`.execute(transaction)
    : { rows: [] };
  const numbers = new Set([...erased, ...listed.rows.map((row) => row.row_number)]);
  const listedPeople = people.filter(({ rowNumber }) => numbers.has(rowNumber));
  const listedIds = listedPeople.flatMap(({ match }) => contactFields(match).person_id ?? []);
  const isListed = ({ rowNumber, matchIndex, fields }: AnsweredRow): boolean =>
    numbers.has(rowNumber) ||
    (matchIndex !== undefined && numbers.has(-1 - matchIndex)) ||
    listedIds.includes(fields?.person_id ?? '');
  const suppressed = rows.filter((row) => row.fields && isListed(row));
  const theirs = suppressed.flatMap(({ rowNumber, matchIndex, matchKeys }) =>
    // Match keys tell weak evidence, which can be wrong.
    matchIndex === undefined || matchKeys !== null ? [] : [{ rowNumber, person: -1 - matchIndex }],
  );
  await extendEntries(transaction, runId, theirs, keys);
  return {
    namesSuppressed: suppressed.length + listedPeople.length > 0,
    suppressedMatches: new Set(listedPeople.map(({ rowNumber }) => -1 - rowNumber)),
    personIds: [...listedIds, ...suppressed.flatMap(({ fields }) => fields?.person_id ?? [])],
    rows: rows.map((row) =>
      suppressed.includes(row)
        ? {
            ...row,
            outcome: 'suppressed',
            // Weak evidence adds no key to the list: without a lookup the next run would pay again.
            isLookup: row.matchKeys !== null && !numbers.has(row.rowNumber),
            reason: 'the returned person is on the suppression list: nothing was written',
            evidence: null,
            matchKeys: null,
            fields: undefined,
            facts: undefined,
          }
        : row,
    ),
  };
}
