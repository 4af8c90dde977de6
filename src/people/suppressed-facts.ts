import { sql, type Transaction } from 'kysely';
import { toComparedPerson, weighFit, type Fit } from '../domain/identity/identity-evidence.ts';
import { suppressionKeysOfPerson } from '../domain/identity/match-keys.ts';
import type { Tables } from '../db/schema.ts';
import {
  suppressionKeysOfPeople,
  suppressionKeysOfRows,
  recordKeysOf,
} from '../suppression/compared-keys.ts';
import {
  extendSuppressions,
  hideSuppressedPeople,
  suppressedRows,
  readSuppressedRows,
} from '../suppression/suppression-list.ts';
import { clearSuppressedRows } from '../suppression/drop-suppressed.ts';
import type { AnsweredCall, RequestedRow, SuppressedInCall } from './answered-call.ts';
import type { ContactState, KnownPerson } from './neighbourhood.ts';
import type { DigestedCall } from './digested-calls.ts';

/** The `SuppressedInCall` of a call without suppressed rows and people. */
export const nobody: SuppressedInCall = { rows: new Map(), matches: new Set() };

/**
 * The number of an answer's person in the query of suppressed keys. It is negative, because rows have positive numbers.
 */
const numberOfMatch = (matchIndex: number): number => -1 - matchIndex;

/**
 * SQL query with `row_number` and `identity_key`: the keys of a call's rows, of the people in the answer, and of
 * earlier answers about these people.
 */
function keysOfCall({ runId, rows, arrived }: AnsweredCall) {
  const ofAnswer = arrived.map(({ person, matchIndex }) => ({
    number: numberOfMatch(matchIndex),
    keys: suppressionKeysOfPerson(person),
  }));
  return sql`
    ${suppressionKeysOfRows(runId, sql`select unnest(${rows.map(({ rowNumber }) => rowNumber)}::int[])`)}
    union all
    ${suppressionKeysOfPeople(ofAnswer, false)}`;
}

/**
 * Finds the suppressed people of answers by the keys of rows, of the answers and of earlier answers. A person can be
 * suppressed during the call, and an answer can contain a suppressed e-mail that the export lacks.
 */
export async function readSuppressedInCalls(
  transaction: Transaction<Tables>,
  calls: readonly AnsweredCall[],
): Promise<(call: AnsweredCall) => SuppressedInCall> {
  const listed = new Map<AnsweredCall, SuppressedInCall>();
  for (const call of calls) {
    const { rows } = await sql<{ row_number: number }>`${suppressedRows(keysOfCall(call))}`.execute(
      transaction,
    );
    listed.set(call, listedOfCall(call, new Set(rows.map((row) => row.row_number))));
  }
  return (call) => listed.get(call) ?? nobody;
}

/**
 * Determines the suppressed rows and people of a call. Suppression extends from a row to a person who fits it, and from
 * a person to a row that fits.
 *
 * @param numbers suppressed row numbers, and negative numbers of suppressed people in the answer
 */
function listedOfCall({ rows, arrived }: AnsweredCall, numbers: ReadonlySet<number>): SuppressedInCall {
  const fitting = ({ compared }: RequestedRow, strength: Fit['strength']): readonly number[] =>
    arrived.flatMap(({ person, matchIndex }) =>
      weighFit(compared, toComparedPerson(person)).strength === strength ? [matchIndex] : [],
    );
  const own = rows.filter(({ rowNumber }) => numbers.has(rowNumber));
  const matches = new Set([
    ...arrived.flatMap(({ matchIndex }) => (numbers.has(numberOfMatch(matchIndex)) ? [matchIndex] : [])),
    ...own.flatMap((row) => fitting(row, 'strong')),
  ]);
  const listed = new Map<number, { matchIndex: number | undefined; isWeak: boolean }>();
  for (const row of rows) {
    const strong = fitting(row, 'strong');
    const isWeak = strong.length === 0;
    const matchIndex = (isWeak ? fitting(row, 'weak') : strong).find((each) => matches.has(each));
    if (own.includes(row)) listed.set(row.rowNumber, { matchIndex: undefined, isWeak: false });
    else if (matchIndex !== undefined) listed.set(row.rowNumber, { matchIndex, isWeak });
  }
  return { matches, rows: listed };
}

/** Finds the contacts that must not get a person, because the contact's record or the person is suppressed. */
export async function readForbiddenFills(
  transaction: Transaction<Tables>,
  fills: readonly { readonly contact: ContactState; readonly person: KnownPerson }[],
): Promise<Set<ContactState>> {
  if (fills.length === 0) return new Set();
  const compared = fills.map(({ contact, person: { person } }, number) => {
    const record = contact.records[0]!.compared;
    const domain = record.identity.domain === undefined ? [] : [`domain:${record.identity.domain}`];
    // A personal e-mail can be a former one, so it does not count for the suppression of a domain.
    const present = suppressionKeysOfPerson({ ...person, personal_emails: [] });
    const { id, named } = recordKeysOf(contact, record.identity);
    return { number, keys: [...record.keys, ...domain, ...id, ...named, ...present] };
  });
  const listed = await readSuppressedRows(transaction, suppressionKeysOfPeople(compared));
  return new Set(fills.flatMap(({ contact }, number) => (listed.has(number) ? [contact] : [])));
}

/**
 * Removes what stored answers contain about suppressed people: bodies, ids and the cells of rows. The suppression
 * entries get the keys of these rows, so that the next run makes no call for these people.
 */
export async function removeSuppressedData(
  transaction: Transaction<Tables>,
  { call, rows, listed }: DigestedCall,
): Promise<void> {
  const suppressed = rows.filter(({ outcome }) => outcome === 'suppressed');
  if (listed.matches.size + suppressed.length === 0) return;
  const { attemptId, runId } = call;
  const ids = call.arrived.flatMap(({ person, matchIndex }) =>
    person.id && listed.matches.has(matchIndex) ? [person.id] : [],
  );
  const theirs = [...listed.rows].flatMap(([rowNumber, { matchIndex, isWeak }]) =>
    // Weak evidence can be wrong, so the keys of such a row are not added to the suppression entries.
    matchIndex === undefined || isWeak ? [] : [{ rowNumber, person: numberOfMatch(matchIndex) }],
  );
  await extendSuppressions(transaction, runId, theirs, keysOfCall(call));
  await hideSuppressedPeople(transaction, [attemptId], ids);
  await sql`delete from raw_answers where attempt_id = ${attemptId}`.execute(transaction);
  await clearSuppressedRows(
    transaction,
    runId,
    suppressed.map(({ rowNumber }) => rowNumber),
  );
}
