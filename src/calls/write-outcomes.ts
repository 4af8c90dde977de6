import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Alignment } from '../domain/identity/alignment.ts';
import type { ClosedAttempt } from '../ledger/close-attempt.ts';
import type { AnsweredRow, AnswerToRecord } from './answered-rows.ts';

/**
 * Writes the outcomes of rows and releases their claims. If two calls asked for the same person, because the answer to
 * the first seemed lost, `enriched` replaces any other outcome.
 */
export async function writeOutcomes(
  transaction: Transaction<Tables>,
  attempt: ClosedAttempt,
  attemptId: string,
  rows: readonly AnsweredRow[],
): Promise<void> {
  await sql`
    with answered (row_number, outcome, reason, person_id, evidence) as (
      select *
      from unnest(
        ${rows.map((row) => row.rowNumber)}::int[],
        ${rows.map((row) => row.outcome)}::text[],
        ${rows.map((row) => row.reason)}::text[],
        ${rows.map((row) => row.fields?.person_id ?? null)}::text[],
        ${rows.map((row) => row.evidence)}::text[]
      )
    ), asked as (
      update attempt_people p
      set outcome = a.outcome, person_id = a.person_id, evidence = a.evidence
      from answered a
      where p.attempt_id = ${attemptId}
        and p.row_number = a.row_number
    ), unclaimed as (
      delete from claims c
      using answered a
      where c.run_id = ${attempt.runId}
        and c.row_number = a.row_number
    )
    update run_rows r
    set outcome = a.outcome, reason = a.reason
    from answered a
    where r.run_id = ${attempt.runId}
      and r.row_number = a.row_number
      and (
        r.outcome is null
        or r.outcome = 'unknown'
        or (a.outcome = 'enriched' and r.outcome in ('not_found', 'identity_mismatch', 'rejected'))
      )
  `.execute(transaction);
}

/** Records people of an answer who match no row. */
export async function writeQuarantine(
  transaction: Transaction<Tables>,
  attemptId: string,
  alignment: Alignment,
  unreadable: AnswerToRecord['unreadableMatches'],
): Promise<void> {
  const quarantined = [
    ...alignment.quarantined,
    ...unreadable.map(({ index, reason }) => ({ matchIndex: index, reason: `unreadable: ${reason}` })),
  ];
  if (quarantined.length === 0) return;
  await sql`
    insert into quarantined_people (attempt_id, match_index, reason)
    select ${attemptId}, *
    from unnest(
      ${quarantined.map((each) => each.matchIndex)}::int[],
      ${quarantined.map((each) => each.reason)}::text[]
    )
    on conflict do nothing
  `.execute(transaction);
}
