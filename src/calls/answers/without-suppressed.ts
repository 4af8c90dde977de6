import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { keysOfPerson } from '../../domain/identity/match-keys.ts';
import type { Person } from '../../domain/identity/person.ts';
import { contactFields } from '../../domain/warehouse/contact-fields.ts';
import type { ClosedAttempt } from '../../ledger/close-attempt.ts';
import { keyOfId } from '../../people/log/observation.ts';
import { keysInLog, keysOfPeople, keysOfRows } from '../../suppression/compared-keys.ts';
import { extendEntries, listedRows } from '../../suppression/suppression-list.ts';
import type { AnsweredRow, AnswerToRecord } from './answered-rows.ts';

interface AllowedAnswer {
  readonly rows: readonly AnsweredRow[];
  /** Whether the answer contains a suppressed person, also one without a row. */
  readonly namesSuppressed: boolean;
  readonly personIds: readonly string[];
  /** Their indexes of `matches`. */
  readonly suppressedMatches: ReadonlySet<number>;
}

/**
 * Removes people who are on the suppression list, by the keys of the row, of the answer and of earlier answers. A
 * person can be suppressed while the call is in flight, and an answer can have a suppressed address that the export did
 * not have.
 */
export async function withoutSuppressed(
  transaction: Transaction<Tables>,
  { runId, hasSuppressions, erased }: ClosedAttempt,
  rows: readonly AnsweredRow[],
  answer: {
    readonly service: string;
    readonly matches: AnswerToRecord['matches'];
  },
): Promise<AllowedAnswer> {
  const people = answer.matches.flatMap((person, matchIndex) => (person ? [{ person, matchIndex }] : []));
  const keys = keysToCompare(runId, rows, people, answer.service);
  const listed = hasSuppressions
    ? await sql<{ row_number: number }>`${listedRows(keys)}`.execute(transaction)
    : { rows: [] };
  const numbers = new Set([...erased, ...listed.rows.map((row) => row.row_number)]);
  const listedPeople = people.filter(({ matchIndex }) => numbers.has(numberOfMatch(matchIndex)));
  const listedIds = listedPeople.flatMap(({ person }) => contactFields(person).person_id ?? []);
  const isListed = ({ rowNumber, matchIndex, fields }: AnsweredRow): boolean =>
    numbers.has(rowNumber) ||
    (matchIndex !== undefined && numbers.has(numberOfMatch(matchIndex))) ||
    listedIds.includes(fields?.person_id ?? '');
  const suppressed = new Set(rows.filter((row) => row.fields && isListed(row)));
  const theirs = [...suppressed].flatMap(({ rowNumber, matchIndex, matchKeys }) =>
    // Match keys tell weak evidence, which can be wrong.
    matchIndex === undefined || matchKeys !== null ? [] : [{ rowNumber, person: numberOfMatch(matchIndex) }],
  );
  await extendEntries(transaction, runId, theirs, keys);
  return {
    rows: rows.map((row) => (suppressed.has(row) ? suppressedRow(row, numbers.has(row.rowNumber)) : row)),
    namesSuppressed: suppressed.size + listedPeople.length > 0,
    personIds: [...listedIds, ...[...suppressed].flatMap(({ fields }) => fields?.person_id ?? [])],
    suppressedMatches: new Set(listedPeople.map(({ matchIndex }) => matchIndex)),
  };
}

/** In the query of keys, a person of the answer has a negative number, beside the numbers of rows. */
function numberOfMatch(matchIndex: number): number {
  return -1 - matchIndex;
}

/** Query of `row_number` and `identity_key`: the keys of the rows, of the people, and of earlier answers about them. */
function keysToCompare(
  runId: string,
  rows: readonly AnsweredRow[],
  people: readonly { readonly person: Person; readonly matchIndex: number }[],
  service: string,
): RawBuilder<unknown> {
  const ofAnswer = people.map(({ person, matchIndex }) => ({
    number: numberOfMatch(matchIndex),
    keys: keysOfPerson(person),
  }));
  const inLog = people.flatMap(({ person, matchIndex }) => {
    const { person_id: personId } = contactFields(person);
    return personId === null ? [] : { number: numberOfMatch(matchIndex), key: keyOfId(personId) };
  });
  return sql`
    ${keysOfRows(runId, sql`select unnest(${rows.map(({ rowNumber }) => rowNumber)}::int[])`)}
    union all
    ${keysOfPeople(ofAnswer)}
    union all
    ${keysInLog(
      service,
      sql`
        select * from unnest(${inLog.map(({ number }) => number)}::int[], ${inLog.map(({ key }) => key)}::text[])
          as in_log (row_number, person_key)`,
    )}
  `;
}

/** @param isOwnKey the list has a key of the row itself */
function suppressedRow(row: AnsweredRow, isOwnKey: boolean): AnsweredRow {
  return {
    ...row,
    outcome: 'suppressed',
    // Weak evidence adds no key to the list: without a lookup the next run would pay again.
    isLookup: row.matchKeys !== null && !isOwnKey,
    reason: 'the returned person is on the suppression list: nothing was written',
    evidence: null,
    matchKeys: null,
    fields: undefined,
    facts: undefined,
  };
}
