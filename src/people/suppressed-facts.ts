import { sql, type Transaction } from 'kysely';
import { keysOfPerson } from '../domain/identity/match-keys.ts';
import type { Tables } from '../db/schema.ts';
import { keysInLog, keysOfPeople, keysOfRows, recordKeysOf } from '../suppression/compared-keys.ts';
import {
  extendEntries,
  hasSuppressions,
  hideFoundPeople,
  listedRows,
  readListedRows,
} from '../suppression/suppression-list.ts';
import { clearSuppressedRows } from '../suppression/drop-suppressed.ts';
import type { AnsweredCall, ListedOfCall } from './answered-call.ts';
import type { ContactState, KnownPerson } from './neighbourhood.ts';
import type { DigestedCall } from './digested-calls.ts';

const nobody: ListedOfCall = { rows: new Set(), matches: new Set() };

/** In the query of keys, a person of the answer has a negative number, beside the numbers of rows. */
function numberOfMatch(matchIndex: number): number {
  return -1 - matchIndex;
}

/** Query of `row_number` and `identity_key`: the keys of the rows, of the people, and of earlier answers about them. */
function keysOfCall({ runId, service, rows, arrived }: AnsweredCall) {
  const ofAnswer = arrived.map(({ person, matchIndex }) => ({
    number: numberOfMatch(matchIndex),
    keys: keysOfPerson(person),
  }));
  const known = arrived.filter(({ personKey }) => personKey !== undefined);
  return sql`
    ${keysOfRows(runId, sql`select unnest(${rows.map(({ rowNumber }) => rowNumber)}::int[])`)}
    union all
    ${keysOfPeople(ofAnswer)}
    union all
    ${keysInLog(
      service,
      sql`
        select *
        from unnest(${known.map(({ matchIndex }) => numberOfMatch(matchIndex))}::int[],
          ${known.map(({ personKey }) => personKey!)}::text[]) as in_log (row_number, person_key)`,
    )}`;
}

/**
 * Finds the people of answers who are on the suppression list, by the keys of the row, of the answer and of earlier
 * answers. A person can be suppressed while the call is in flight, and an answer can have a suppressed address that the
 * export did not have.
 */
export async function readListed(
  transaction: Transaction<Tables>,
  calls: readonly AnsweredCall[],
): Promise<(call: AnsweredCall) => ListedOfCall> {
  const listed = new Map<AnsweredCall, ListedOfCall>();
  if (calls.length > 0 && (await hasSuppressions(transaction)))
    for (const call of calls) {
      const { rows } = await sql<{ row_number: number }>`${listedRows(keysOfCall(call))}`.execute(
        transaction,
      );
      const numbers = new Set(rows.map((row) => row.row_number));
      listed.set(call, {
        rows: new Set(call.rows.flatMap(({ rowNumber }) => (numbers.has(rowNumber) ? [rowNumber] : []))),
        matches: new Set(
          call.arrived.flatMap(({ matchIndex }) =>
            numbers.has(numberOfMatch(matchIndex)) ? [matchIndex] : [],
          ),
        ),
      });
    }
  return (call) => listed.get(call) ?? nobody;
}

/** Finds the contacts that may not get a person: the contact's record or the person is on the suppression list. */
export async function readForbiddenFills(
  transaction: Transaction<Tables>,
  fills: readonly { readonly contact: ContactState; readonly person: KnownPerson }[],
): Promise<ReadonlySet<ContactState>> {
  if (fills.length === 0 || !(await hasSuppressions(transaction))) return new Set();
  const compared = fills.map(({ contact, person }, number) => {
    const record = contact.records[0]!.compared;
    const domain = record.identity.domain === undefined ? [] : [`domain:${record.identity.domain}`];
    return {
      number,
      keys: [
        ...record.keys,
        ...domain,
        ...recordKeysOf(contact, record.identity),
        ...keysOfPerson(person.person),
      ],
    };
  });
  const inLog = sql`
    select * from unnest(${fills.map((_, number) => number)}::int[],
      ${fills.map(({ person }) => person.service)}::text[],
      ${fills.map(({ person }) => person.personKey)}::text[]) as filled (row_number, service, person_key)`;
  const listed = await readListedRows(
    transaction,
    sql`${keysOfPeople(compared)} union all ${keysInLog(sql<string>`p.service`, inLog)}`,
  );
  return new Set(fills.flatMap(({ contact }, number) => (listed.has(number) ? [contact] : [])));
}

/**
 * Removes what stored answers say about people on the suppression list: the bodies, the ids of the people, and the
 * cells of the rows. The keys of these rows are added to the entries: the next run would ask for these people again.
 */
export async function removeSuppressed(
  transaction: Transaction<Tables>,
  { call, rows, listed }: DigestedCall,
): Promise<void> {
  const suppressed = rows.filter(({ outcome }) => outcome === 'suppressed');
  if (listed.matches.size === 0 && !suppressed.some(({ matchIndex }) => matchIndex !== undefined)) return;
  const { attemptId, runId } = call;
  const ids = call.arrived.flatMap(({ person, matchIndex }) =>
    person.id && (listed.matches.has(matchIndex) || suppressed.some((row) => row.matchIndex === matchIndex))
      ? [person.id]
      : [],
  );
  const theirs = suppressed.flatMap(({ rowNumber, matchIndex, isWeak }) =>
    // Weak evidence can be wrong.
    matchIndex === undefined || isWeak ? [] : [{ rowNumber, person: numberOfMatch(matchIndex) }],
  );
  await extendEntries(transaction, runId, theirs, keysOfCall(call));
  await hideFoundPeople(transaction, [attemptId], ids);
  await transaction.deleteFrom('raw_answers').where('attempt_id', '=', attemptId).execute();
  await clearSuppressedRows(
    transaction,
    runId,
    suppressed.map(({ rowNumber }) => rowNumber),
  );
}
