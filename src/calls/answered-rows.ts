import { sql, type Transaction } from 'kysely';
import type { AlignedRow, Alignment } from '../domain/identity/alignment.ts';
import type { Credits } from '../domain/money/decimal.ts';
import { contactFields, type ContactFields } from '../domain/identity/field-groups.ts';
import { isWeak } from '../domain/identity/identity-evidence.ts';
import { keysOfPerson } from '../domain/identity/keys-of-person.ts';
import { matchKeysOfPerson } from '../domain/identity/match-keys.ts';
import type { Person } from '../domain/identity/person.ts';
import type { OpenPerson } from './open-people.ts';
import { saidByAnswer, type Said } from '../people/observation.ts';
import { hasSuppressions, keysOfRows, listedRows } from '../privacy/suppressions.ts';
import { documentedPerson, readExactMatches } from '../service/answers/documented-person.ts';
import type { Tables } from '../db/schema.ts';

/** What the service made of a bulk call, as far as it is recorded. */
export interface AnswerToRecord {
  readonly httpStatus: number;
  readonly requestId: string | undefined;
  readonly matches: readonly (Person | null)[];
  readonly unreadableMatches: readonly { readonly index: number; readonly reason: string }[];
  /** Undefined where the answer does not say it in a form that can be trusted: the reservation is held. */
  readonly creditsConsumed: Credits | undefined;
  readonly creditsProblem: string | undefined;
  /** People that were billed, by the answer's own count. */
  readonly uniqueEnrichedRecords?: number | undefined;
  /** What the answer says of results that come later; absent where it says nothing. */
  readonly phoneEnrichment?: { readonly status: string } | undefined;
  readonly waterfall?: { readonly status: string } | undefined;
  readonly raw: Buffer;
  readonly contentType: string | undefined;
}

/** A row with what the answer says of it, in the form of the tables. */
export interface AnsweredRow {
  readonly rowNumber: number;
  readonly contactId: string;
  readonly outcome: AlignedRow['outcome'] | 'suppressed';
  readonly reason: string | null;
  readonly evidence: string | null;
  /** Of weak evidence, the keys of rows that the person could fit as well. */
  readonly matchKeys: readonly number[] | null;
  /** Where the person given to the row stands in `matches`. */
  readonly matchIndex: number | undefined;
  /** Of the person given to the row. */
  readonly fields: ContactFields | undefined;
  /** What the log keeps of that person. */
  readonly said: Said | undefined;
}

/** A person with an id who was given to no row: paid for, and perhaps another contact. */
export interface UnmatchedPerson {
  readonly matchIndex: number;
  readonly said: Said;
}

/** What an answer says of each row that was asked for, by its alignment, and of the people who were given to none. */
export function answeredRows(
  people: readonly OpenPerson[],
  alignment: Alignment,
  answer: AnswerToRecord,
): { readonly rows: AnsweredRow[]; readonly unmatched: UnmatchedPerson[] } {
  const inPlace = answer.matches.length === people.length;
  const unreadable = new Set(inPlace ? answer.unreadableMatches.map(({ index }) => index) : []);
  const exact = readExactMatches(answer.raw);
  const said = (person: Person, matchIndex: number): Said => {
    const element = exact?.[matchIndex];
    const documented = documentedPerson(typeof element === 'object' && element !== null ? element : person);
    return saidByAnswer(person, documented, answer.waterfall);
  };
  const unmatched = alignment.quarantined.flatMap(({ matchIndex }) => {
    const person = answer.matches[matchIndex];
    return person?.id ? [{ matchIndex, said: said(person, matchIndex) }] : [];
  });
  const rows = people.map(({ rowNumber, contactId }, index): AnsweredRow => {
    const row = alignment.rows[index]!;
    const answered = {
      rowNumber,
      contactId,
      outcome: row.outcome,
      reason: null,
      evidence: null,
      matchKeys: null,
      matchIndex: undefined,
      fields: undefined,
      said: undefined,
    };
    switch (row.outcome) {
      case 'enriched': {
        const { person, matchIndex, evidence } = row;
        const matchKeys = isWeak(evidence) ? matchKeysOfPerson(person) : null;
        const fields = contactFields(person);
        return { ...answered, evidence, matchKeys, matchIndex, fields, said: said(person, matchIndex) };
      }
      case 'identity_mismatch':
        return { ...answered, reason: row.reason };
      case 'not_found':
        // A person came back, and may have been billed: that is no miss.
        return unreadable.has(index)
          ? { ...answered, outcome: 'identity_mismatch', reason: 'what came back is no readable person' }
          : answered;
    }
  });
  return { rows, unmatched };
}

/**
 * Takes people away who are on the suppression list, by what the row or the answer says of them: a person can be put on
 * it while their call is in flight, or be found under an address that the export did not have.
 *
 * @returns the rows; whether the answer speaks of anybody on the list, those who were given to no row included; their
 *   ids, and where they stand
 */
export async function withoutSuppressed(
  transaction: Transaction<Tables>,
  runId: string,
  rows: readonly AnsweredRow[],
  matches: AnswerToRecord['matches'],
): Promise<{
  readonly rows: readonly AnsweredRow[];
  readonly namesSuppressed: boolean;
  readonly personIds: readonly string[];
  /** Indexes of `matches`. */
  readonly suppressedMatches: ReadonlySet<number>;
}> {
  // A number below zero is that of no row, but of a person who came back.
  const people = matches.flatMap((match, index) => (match ? [{ rowNumber: -1 - index, match }] : []));
  const rowNumbers = rows.map(({ rowNumber }) => rowNumber);
  const learned = people.flatMap(({ rowNumber, match }) =>
    keysOfPerson(match).map((key) => ({ rowNumber, key })),
  );
  const keys = sql`
    ${keysOfRows(runId, sql`select unnest(${rowNumbers}::int[])`)} union all
    select * from unnest(${learned.map(({ rowNumber }) => rowNumber)}::int[], ${learned.map(({ key }) => key)}::text[])
  `;
  // A row that was erased meanwhile has no keys any more.
  const listed = await sql<{ row_number: number }>`
    ${(await hasSuppressions(transaction)) ? sql`${listedRows(keys)} union` : sql``}
    select row_number from run_rows where run_id = ${runId} and outcome = 'suppressed' and row_number = any(${rowNumbers}::int[])
  `.execute(transaction);
  const numbers = new Set(listed.rows.map((row) => row.row_number));
  const listedPeople = people.filter(({ rowNumber }) => numbers.has(rowNumber));
  const listedIds = listedPeople.flatMap(({ match }) => contactFields(match).person_id ?? []);
  const isListed = ({ rowNumber, matchIndex, fields }: AnsweredRow): boolean =>
    numbers.has(rowNumber) ||
    (matchIndex !== undefined && numbers.has(-1 - matchIndex)) ||
    listedIds.includes(fields?.person_id ?? '');
  const suppressed = rows.filter((row) => row.fields && isListed(row));
  return {
    namesSuppressed: suppressed.length + listedPeople.length > 0,
    suppressedMatches: new Set(listedPeople.map(({ rowNumber }) => -1 - rowNumber)),
    personIds: [...listedIds, ...suppressed.flatMap(({ fields }) => fields?.person_id ?? [])],
    rows: rows.map((row) =>
      suppressed.includes(row)
        ? {
            ...row,
            outcome: 'suppressed',
            reason: 'who came back is on the suppression list: nothing was written',
            evidence: null,
            matchKeys: null,
            fields: undefined,
            said: undefined,
          }
        : row,
    ),
  };
}
