import { sql, type Transaction } from 'kysely';
import { alignRows, type DecidedRow } from '../domain/identity/alignment.ts';
import { competingContactReason } from '../domain/identity/decide-person.ts';
import { areSamePerson, toComparedPerson } from '../domain/identity/identity-evidence.ts';
import { contactFields } from '../domain/warehouse/contact-fields.ts';
import { filledWithoutCallNote, outcomesWithoutPerson, type Outcome } from '../domain/runs/outcome.ts';
import { nameList } from '../db/expressions.ts';
import type { Tables } from '../db/schema.ts';
import type { ContactKey } from '../keys/contact-key.ts';
import type { ContactWithPerson } from './contact-changes.ts';
import type { AnsweredCall, PersonInAnswer, RequestedRow, SuppressedInCall } from './answered-call.ts';

/** A person of an answer, with the keys of this person's facts in the observation log. */
export interface KeyedPersonInAnswer extends PersonInAnswer {
  /** True if an earlier answer has this id for someone else. No contact gets such a person. */
  readonly isForeign: boolean;
  /**
   * Keys under which the log stores the facts, each with the keys that lead to the person. Empty if no facts are
   * stored.
   */
  readonly written: readonly { readonly personKey: string; readonly matchKeys: readonly number[] }[];
}

interface DigestedRow {
  readonly rowNumber: number;
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly evidence: string | null;
  /** True if later runs treat the keys of the row as looked up. False if the row is suppressed. */
  readonly isLookup: boolean;
  /** Index in `matches` of the answer of the row's person; undefined if this answer does not have the person. */
  readonly matchIndex: number | undefined;
}

export type DigestedCall = ReturnType<typeof digestCall>;

const foreignId = 'this id is also stated for a person of another name';
const withheldReason = 'the service returned no person who can be used';
const suppressedReason = 'the row or the returned person is on the suppression list: nothing was written';

/**
 * Determines the outcomes of the rows of a call, and the people of the answer who belong to no row.
 *
 * @param listed what the suppression list hides
 * @param decisionOf returns the decision about the contact of a row
 */
export function digestCall(
  call: AnsweredCall,
  listed: SuppressedInCall,
  arrived: readonly KeyedPersonInAnswer[],
  decisionOf: (row: RequestedRow) => ContactWithPerson,
) {
  const { matches, unreadableMatches: unreadable } = call.answer;
  // With one match per row, match n is probably meant for row n, although the service does not promise the order.
  const inPlace = matches.length === call.rows.length;
  const alignment = alignRows({
    rows: call.rows.map((row) => decidedRow(row, decisionOf(row), call, arrived)),
    arrived: arrived.flatMap(({ person, matchIndex, isForeign }) =>
      isForeign || listed.matches.has(matchIndex) ? [] : [{ person: toComparedPerson(person), matchIndex }],
    ),
    inPlace,
  });
  const foreign = arrived.filter(({ isForeign }) => isForeign).map(({ matchIndex }) => matchIndex);
  const withheld = [...unreadable.map(({ index }) => index), ...foreign];
  // The answer has more matches than are read. The unread ones can belong to any row.
  const isCut = unreadable.some(({ index }) => index >= matches.length);
  /** True if a person that the answer withholds, unreadable or under a foreign id, could be the person of a row. */
  const isWithheld = (index: number): boolean =>
    isCut || (inPlace ? withheld.includes(index) : foreign.length > 0);
  const rows = call.rows.map(({ rowNumber, isSuppressed }, index): DigestedRow => {
    const own = listed.rows.get(rowNumber);
    const digested = { rowNumber, reason: null, evidence: null, isLookup: true, matchIndex: undefined };
    if (isSuppressed || own)
      return {
        ...digested,
        outcome: 'suppressed',
        reason: suppressedReason,
        // A person who fits a row only by weak evidence does not suppress the keys of this row. The row is recorded as
        // looked up, because the next run would pay for it again.
        isLookup: own?.isWeak === true,
      };
    const aligned = alignment.rows[index]!;
    // The service returned a person for this row and may have billed it, so the outcome is not `not_found`.
    return aligned.outcome === 'not_found' && isWithheld(index)
      ? { ...digested, outcome: 'identity_mismatch', reason: withheldReason }
      : { ...digested, ...aligned };
  });
  const unmatched = [
    ...alignment.unmatched,
    ...foreign.map((matchIndex) => ({ matchIndex, reason: foreignId })),
    ...unreadable.map(({ index, reason }) => ({ matchIndex: index, reason: `unreadable: ${reason}` })),
  ];
  return { call, listed, arrived, rows, unmatched };
}

/** Converts the decision about the contact of a row, made over all known people, to a decision about this answer. */
function decidedRow(
  { compared }: RequestedRow,
  { contact, decided }: ContactWithPerson,
  call: AnsweredCall,
  arrived: readonly KeyedPersonInAnswer[],
): DecidedRow {
  const row = { row: compared, verdicts: contact.verdicts };
  const { person } = decided;
  if (person !== undefined) {
    const own =
      arrived.find(({ written }) => written.some(({ personKey }) => personKey === person.personKey)) ??
      arrived.find(
        (each) => each.written.length > 0 && areSamePerson(toComparedPerson(each.person), person.compared),
      );
    const matchIndex = person.service === call.service ? own?.matchIndex : undefined;
    return { ...row, decision: { kind: 'person', matchIndex, evidence: decided.evidence } };
  }
  const { reason = competingContactReason, isRefused } = decided;
  return { ...row, decision: isRefused ? { kind: 'refused', reason } : { kind: 'none' } };
}

/** The row of a call that stands for a contact; undefined if the call has no row of it. */
export function requestedRowOf(
  { rows }: AnsweredCall,
  { source, contactId }: ContactKey,
): RequestedRow | undefined {
  return rows.find((row) => row.source === source && row.contactId === contactId);
}

/** Writes the outcomes of rows, releases the claims of these rows, and records the lookups: one statement per table. */
export async function writeCalls(
  transaction: Transaction<Tables>,
  calls: readonly DigestedCall[],
): Promise<void> {
  if (calls.length === 0) return;
  // A partial answer leaves out people that the service has not processed. Their rows stay without an outcome, so a run
  // can call for them again.
  const answered = calls.map((digested) =>
    digested.call.answer.partial
      ? { ...digested, rows: digested.rows.filter(({ outcome }) => outcome !== 'not_found') }
      : digested,
  );
  await writeOutcomes(transaction, answered);
  await writeUnmatchedPeople(transaction, calls);
  await recordLookups(transaction, answered);
}

/**
 * Writes the outcomes of rows. If two calls looked up the same person because the first answer seemed lost, `enriched`
 * replaces any other outcome. A row that was erased or suppressed during the call stays suppressed.
 */
async function writeOutcomes(
  transaction: Transaction<Tables>,
  calls: readonly DigestedCall[],
): Promise<void> {
  const answered = calls.flatMap(({ call, arrived, rows }) =>
    rows.map(({ rowNumber, outcome, reason, evidence, matchIndex }) => {
      const person = arrived.find((each) => each.matchIndex === matchIndex)?.person;
      const personId = person ? contactFields(person).person_id : null;
      return { attemptId: call.attemptId, runId: call.runId, rowNumber, outcome, reason, evidence, personId };
    }),
  );
  const deciding = new Map<string, (typeof answered)[number]>();
  for (const row of answered) {
    const name = `${row.runId} ${row.rowNumber}`;
    if (row.outcome === 'enriched' || !deciding.has(name)) deciding.set(name, row);
  }
  // These lists let PostgreSQL find the rows by an index. Without them, the join read all rows of the run.
  const attemptIds = calls.map(({ call }) => call.attemptId);
  const runIds = [...new Set(calls.map(({ call }) => call.runId))];
  const rowNumbers = answered.map(({ rowNumber }) => rowNumber);
  await sql`
    with answered as materialized (
      select *
      from jsonb_to_recordset(${JSON.stringify(answered)}::jsonb)
        as a ("attemptId" text, "rowNumber" integer, outcome text, evidence text, "personId" text)
    ), deciding as materialized (
      select *
      from jsonb_to_recordset(${JSON.stringify([...deciding.values()])}::jsonb)
        as a ("attemptId" text, "runId" text, "rowNumber" integer, outcome text, reason text)
    ), people as (
      update attempt_people p
      set outcome = a.outcome, evidence = a.evidence, person_id = coalesce(a."personId", p.person_id)
      from answered a
      where p.attempt_id = any(${attemptIds}::text[]) and p.attempt_id = a."attemptId"
        and p.row_number = a."rowNumber"
    ), unclaimed as (
      delete from claims c using deciding a
      where c.run_id = any(${runIds}::text[]) and c.row_number = any(${rowNumbers}::integer[])
        and c.run_id = a."runId" and c.row_number = a."rowNumber"
    )
    update run_rows r
    set outcome = case when r.outcome = 'suppressed' then r.outcome else a.outcome end,
      reason = case
        when r.outcome = 'suppressed' then r.reason || ${discarded} || (
          select case when status = 'settled' then ' and the call settled' else '' end
          from attempts where attempt_id = a."attemptId")
        when r.filled and a.outcome <> 'enriched' then concat_ws('; ', a.reason, ${filledWithoutCallNote}::text)
        else a.reason
      end,
      filled = r.filled and r.outcome is distinct from 'suppressed' and a.outcome <> 'enriched'
    from deciding a
    where r.run_id = any(${runIds}::text[]) and r.row_number = any(${rowNumbers}::integer[])
      and r.run_id = a."runId" and r.row_number = a."rowNumber"
      and (
        r.outcome is null
        -- The run ended while this call seemed lost, and its row got a provisional outcome.
        or r.outcome in ('unknown', 'cancelled', 'over_budget')
        or (r.outcome = 'suppressed' and r.reason not like ${`%${discarded}%`})
        or (a.outcome = 'enriched' and r.outcome in (${nameList(outcomesWithoutPerson)})))
  `.execute(transaction);
}

const discarded = '; the answer was discarded';

/**
 * Quarantines the people of answers who fit no row. An erasure finds people who are only in a stored body by keys that
 * are written beside the body.
 */
async function writeUnmatchedPeople(
  transaction: Transaction<Tables>,
  calls: readonly DigestedCall[],
): Promise<void> {
  const unmatched = calls.flatMap(({ call: { attemptId }, unmatched: people }) =>
    people.map(({ matchIndex, reason }) => ({ attempt_id: attemptId, match_index: matchIndex, reason })),
  );
  if (unmatched.length > 0)
    await sql`
      insert into quarantined_people (attempt_id, match_index, reason)
      select attempt_id, match_index, reason
      from jsonb_to_recordset(${JSON.stringify(unmatched)}::jsonb)
        as q (attempt_id text, match_index integer, reason text)
      on conflict do nothing
    `.execute(transaction);
  for (const { call, arrived } of calls) {
    const keys = arrived.flatMap(({ written, facts }) => (written.length > 0 ? [] : facts.identity_keys));
    if (keys.length > 0)
      await sql`
        update raw_answers set unrecorded_keys = ${[...new Set(keys)]}::text[] where attempt_id = ${call.attemptId}
      `.execute(transaction);
  }
}

/** Records lookups for the keys of the rows and of the people in the answers. */
async function recordLookups(
  transaction: Transaction<Tables>,
  calls: readonly DigestedCall[],
): Promise<void> {
  const lookups = calls.map(({ call, arrived, rows }) => ({
    service: call.service,
    run_id: call.runId,
    asked_at: call.askedAt,
    field_groups: call.fieldGroups,
    answered: rows.map(({ rowNumber, outcome, isLookup }) => ({
      row_number: rowNumber,
      outcome,
      is_lookup: isLookup,
    })),
    // A key without a row belongs to a person who fits no row. The service billed this person too.
    learned: arrived.flatMap(({ matchIndex, facts, written }) => {
      const row = rows.find((each) => each.matchIndex === matchIndex && each.outcome === 'enriched');
      return written.length === 0 || (!row && facts.person_id === null)
        ? []
        : [...new Set(facts.identity_keys)].map((key) => ({
            identity_key: key,
            row_number: row?.rowNumber ?? null,
          }));
    }),
  }));
  await sql`
    select record_lookup(service, run_id, asked_at, answered, learned, field_groups)
    from jsonb_to_recordset(${JSON.stringify(lookups)}::jsonb) as l (service text, run_id text, asked_at timestamptz,
      answered jsonb, learned jsonb, field_groups text[])
  `.execute(transaction);
}
