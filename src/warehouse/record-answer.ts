import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sql, type Transaction } from 'kysely';
import { alignMatches, type AlignedRow, type Alignment } from '../domain/alignment.ts';
import { parseCredits, type Credits } from '../domain/decimal.ts';
import type { Identity } from '../domain/identity.ts';
import { identityKeys } from '../domain/identity-keys.ts';
import { contactFields } from '../domain/merge-policy.ts';
import type { Person } from '../domain/person.ts';
import { parseProfileUrl } from '../domain/profile-url.ts';
import { parseEmail } from '../domain/email-address.ts';
import { closeAttempt, settle } from './close-attempt.ts';
import { upsertContacts } from './contacts.ts';
import type { Warehouse } from './database.ts';
import type { OpenPerson } from './open-people.ts';
import type { Tables } from './tables.ts';

/** What the service made of a bulk call, as far as it is recorded. */
export interface AnswerToRecord {
  readonly httpStatus: number;
  readonly requestId: string | undefined;
  readonly matches: readonly (Person | null)[];
  readonly unreadableMatches: readonly { readonly index: number; readonly reason: string }[];
  /** Undefined where the answer does not say it in a form that can be trusted: the reservation is held. */
  readonly creditsConsumed: Credits | undefined;
  readonly creditsProblem: string | undefined;
  readonly raw: Buffer;
  readonly contentType: string | undefined;
}

export interface RecordedAnswer {
  readonly enriched: number;
  readonly notFound: number;
  readonly mismatched: number;
  readonly creditsSettled: Credits;
  /** The service billed more than was reserved for this call. */
  readonly overbilled: boolean;
  /** False: it was recorded before, by an earlier try whose reply was lost. */
  readonly recordedNow: boolean;
}

const compress = promisify(gzip);

/**
 * Records an answer in one transaction: the raw body, the people given to their rows by evidence, their contacts, what is
 * remembered of them, and the credits. Recording the same attempt again changes nothing.
 *
 * An attempt that was given up as unknown meanwhile is recorded all the same: the answer is the truth, whoever waited.
 *
 * @param people who was asked for, in the order of `details`
 */
export async function recordAnswer(
  warehouse: Warehouse,
  record: {
    readonly attemptId: string;
    readonly source: string;
    readonly people: readonly OpenPerson[];
    readonly answer: AnswerToRecord;
  },
): Promise<RecordedAnswer> {
  const { answer, people } = record;
  const alignment = alignMatches(
    people.map((person) => person.identity),
    answer.matches,
    hashesOf,
  );
  // Before the transaction: 600 KB take some milliseconds, during which nobody should wait for our locks.
  const bodyGzip = await compress(answer.raw, { level: 1 });
  return warehouse.database.transaction().execute(async (transaction) => {
    const attempt = await closeAttempt(transaction, record.attemptId, {
      httpStatus: answer.httpStatus,
      requestId: answer.requestId,
      creditsConsumed: answer.creditsConsumed,
      reason:
        answer.creditsConsumed === undefined
          ? `credits_consumed is ${answer.creditsProblem ?? 'missing'}`
          : null,
    });
    const tally = tallyOf(alignment);
    if (!attempt) return { ...tally, creditsSettled: 0n, overbilled: false, recordedNow: false };

    await sql`
      insert into raw_answers (attempt_id, content_type, body_gzip)
      values (${record.attemptId}, ${answer.contentType ?? null}, ${bodyGzip})
    `.execute(transaction);
    await writeOutcomes(transaction, attempt.runId, record.attemptId, people, alignment.rows);
    await writeQuarantine(transaction, record.attemptId, alignment, answer.unreadableMatches);
    await upsertContacts(transaction, {
      source: record.source,
      runId: attempt.runId,
      attemptId: record.attemptId,
      contacts: people.flatMap((person, index) => {
        const row = alignment.rows[index]!;
        return row.outcome === 'enriched'
          ? [{ rowNumber: person.rowNumber, fields: contactFields(row.person) }]
          : [];
      }),
    });
    await remember(transaction, attempt.runId, people, alignment.rows);
    const consumed = answer.creditsConsumed;
    if (consumed !== undefined) await settle(transaction, attempt.budgetIds, attempt.reserved, consumed);
    return {
      ...tally,
      creditsSettled: consumed ?? 0n,
      overbilled: consumed !== undefined && consumed > (parseCredits(attempt.reserved) ?? 0n),
      recordedNow: true,
    };
  });
}

/** Row outcomes and their evidence, and the claims of these rows given up: everybody here has the final word. */
async function writeOutcomes(
  transaction: Transaction<Tables>,
  runId: string,
  attemptId: string,
  people: readonly OpenPerson[],
  rows: readonly AlignedRow[],
): Promise<void> {
  const rowNumbers = people.map((person) => person.rowNumber);
  await sql`
    with answered (row_number, outcome, reason, person_id, evidence) as (
      select * from unnest(${rowNumbers}::int[], ${rows.map((row) => row.outcome)}::text[],
        ${rows.map((row) => (row.outcome === 'identity_mismatch' ? row.reason : null))}::text[],
        ${rows.map((row) => (row.outcome === 'enriched' ? (row.person.id ?? null) : null))}::text[],
        ${rows.map((row) => (row.outcome === 'enriched' ? row.evidence : null))}::text[])
    ), asked as (
      update attempt_people p set outcome = a.outcome, person_id = a.person_id, evidence = a.evidence
      from answered a where p.attempt_id = ${attemptId} and p.row_number = a.row_number
    )
    update run_rows r set outcome = a.outcome, reason = a.reason
    from answered a
    where r.run_id = ${runId} and r.row_number = a.row_number and (r.outcome is null or r.outcome = 'unknown')
  `.execute(transaction);
  await releaseClaims(transaction, runId, rowNumbers);
}

async function writeQuarantine(
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
    select ${attemptId}, * from unnest(${quarantined.map((each) => each.matchIndex)}::int[], ${quarantined.map((each) => each.reason)}::text[])
    on conflict do nothing
  `.execute(transaction);
}

/** Remembers, under every key of the row and of the person who came back, that they were asked for now. */
async function remember(
  transaction: Transaction<Tables>,
  runId: string,
  people: readonly OpenPerson[],
  rows: readonly AlignedRow[],
): Promise<void> {
  const learned = people.flatMap((person, index) => {
    const row = rows[index]!;
    return row.outcome === 'enriched'
      ? identityKeys(identityOf(row.person)).map((key) => ({ key, rowNumber: person.rowNumber }))
      : [];
  });
  await sql`
    insert into identity_memory as m (identity_key, field_group, outcome, asked_at, run_id)
    select distinct on (identity_key) identity_key, 'profile', outcome, clock_timestamp(), ${runId}
    from (
      select unnest(r.keys) as identity_key, r.row_number from run_rows r
        where r.run_id = ${runId} and r.row_number = any(${people.map((person) => person.rowNumber)}::int[])
      union
      select * from unnest(${learned.map((each) => each.key)}::text[], ${learned.map((each) => each.rowNumber)}::int[])
    ) k join unnest(${people.map((person) => person.rowNumber)}::int[], ${rows.map((row) => row.outcome)}::text[]) as a (row_number, outcome)
      using (row_number)
    order by identity_key, outcome = 'enriched' desc
    on conflict (identity_key, field_group) do update
      set outcome = excluded.outcome, asked_at = excluded.asked_at, run_id = excluded.run_id
      where m.asked_at <= excluded.asked_at
  `.execute(transaction);
}

/** The service refuses this person (422 with nobody else in the call): nobody is billed, and nobody asks again while that is fresh. */
export async function rejectPerson(
  warehouse: Warehouse,
  rejected: { readonly runId: string; readonly rowNumber: number; readonly reason: string },
): Promise<void> {
  const { runId, rowNumber, reason } = rejected;
  await warehouse.database.transaction().execute(async (transaction) => {
    await sql`
      update run_rows set outcome = 'rejected', reason = ${reason}
      where run_id = ${runId} and row_number = ${rowNumber} and outcome is null
    `.execute(transaction);
    await sql`
      insert into identity_memory as m (identity_key, field_group, outcome, asked_at, run_id)
      select identity_key, 'profile', 'rejected', clock_timestamp(), ${runId}
      from run_rows, unnest(keys) as identity_key where run_id = ${runId} and row_number = ${rowNumber} order by identity_key
      on conflict (identity_key, field_group) do update
        set outcome = excluded.outcome, asked_at = excluded.asked_at, run_id = excluded.run_id
        where m.asked_at <= excluded.asked_at
    `.execute(transaction);
    await releaseClaims(transaction, runId, [rowNumber]);
  });
}

async function releaseClaims(
  transaction: Transaction<Tables>,
  runId: string,
  rowNumbers: readonly number[],
): Promise<void> {
  await sql`
    delete from claims where run_id = ${runId} and row_number = any(${rowNumbers}::int[])
  `.execute(transaction);
}

function tallyOf({ rows }: Alignment): Pick<RecordedAnswer, 'enriched' | 'notFound' | 'mismatched'> {
  const count = (outcome: AlignedRow['outcome']): number =>
    rows.filter((row) => row.outcome === outcome).length;
  return {
    enriched: count('enriched'),
    notFound: count('not_found'),
    mismatched: count('identity_mismatch'),
  };
}

function identityOf(person: Person): Identity {
  const email = person.email ? parseEmail(person.email) : undefined;
  const profileUrl = person.proflink_url ? parseProfileUrl(person.proflink_url) : undefined;
  return {
    ...(person.id && { personId: person.id }),
    ...(email !== undefined && { email }),
    ...(profileUrl !== undefined && { profileUrl }),
  };
}

function hashesOf(email: string): string[] {
  return ['md5', 'sha256'].map((algorithm) => createHash(algorithm).update(email).digest('hex'));
}
