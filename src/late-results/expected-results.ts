import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { DeliveredResults } from '../domain/late-results/expected-results.ts';
import type { LateKind } from '../domain/late-results/delivery-kinds.ts';
import { isSharedMailbox, parseEmail } from '../domain/identity/values/email-address.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';
import type { Tables } from '../db/schema.ts';
import { settleLateCredits } from '../ledger/close-attempt.ts';
import { hashPersonForAttempt, hashForAttempt } from '../suppression/suppression-list.ts';

/** One kind of late result that is expected for one person of an answer. */
export interface ExpectedResult {
  /** Id of the person at the service, or a hash of this id after an erasure. */
  readonly personId: string;
  readonly kind: LateKind;
  readonly status: 'expected' | 'filled' | 'missing';
  /** True if a delivery has contained this result. */
  readonly isDelivered: boolean;
  /** Hashes of the person's e-mails in the answer. */
  readonly emails: readonly string[];
}

/** A call with a locked attempt. The lock makes sure that its deliveries are applied one after another. */
export interface LockedCall {
  readonly attemptId: string;
  readonly runId: string;
  readonly status: string;
  readonly requestId: string | null;
  readonly people: number;
  readonly hasAnswer: boolean;
  readonly foundPeople: number;
  /** Ids of the people that the service found. Suppressed people have a `hiddenId`. */
  readonly foundIds: readonly string[];
  readonly admittedAt: string;
  readonly options: RunOptions;
  readonly runEnded: boolean;
  /** Late results that the call expects; empty if the call has no answer. */
  readonly expected: readonly ExpectedResult[];
}

/** Locks an attempt, so that its deliveries are applied one after another. */
export async function lockCall(transaction: Transaction<Tables>, attemptId: string): Promise<LockedCall> {
  await sql`select from attempts where attempt_id = ${attemptId} for update`.execute(transaction);
  const { rows } = await sql<LockedCall>`
    select a.attempt_id as "attemptId", a.run_id as "runId", a.status, a.request_id as "requestId", a.people,
      a.answered_at is not null as "hasAnswer", a.found_people as "foundPeople", a.found_ids as "foundIds",
      a.admitted_at::text as "admittedAt", r.options, r.finished_at is not null as "runEnded",
      (
        select coalesce(jsonb_agg(jsonb_build_object('personId', person_id, 'kind', kind, 'status', status,
          'isDelivered', delivery_id is not null, 'emails', email_hashes)), '[]')
        from expected_results
        where attempt_id = a.attempt_id
      ) as expected
    from attempts a
    join runs r using (run_id)
    where a.attempt_id = ${attemptId}
  `.execute(transaction);
  const [call] = rows;
  if (!call) throw new Error(`attempt ${attemptId} does not exist`);
  return call;
}

/** A person of the answer who gets late results, with the e-mails by which a delivery can name this person. */
export interface PersonToExpect {
  readonly personId: string;
  readonly emails: readonly (string | null | undefined)[];
}

/**
 * SQL that creates the expected late results in the statement that stores the answer, by found person and kind.
 *
 * @param stored query that returns the `attempt_id` if the answer was stored
 * @param call.found number of people found; can exceed the number of listed `people`
 * @param call.awaited kinds that the answer announces; all other kinds are recorded as missing
 */
export function expectResults(
  stored: RawBuilder<unknown>,
  attemptId: string,
  people: readonly PersonToExpect[],
  call: {
    readonly found: number;
    readonly kinds: readonly LateKind[];
    readonly awaited: readonly LateKind[];
  },
): RawBuilder<unknown> {
  const listed = new Map(
    people.map(({ personId, emails }) => [personId, hashIdentifyingEmails(attemptId, emails)]),
  );
  for (let person = listed.size + 1; person <= call.found; person += 1) listed.set(`unlisted-${person}`, []);
  const rows = [...listed].map(([person_id, email_hashes]) => ({ person_id, email_hashes }));
  return sql`
    insert into expected_results (attempt_id, person_id, kind, status, email_hashes)
    select s.attempt_id, person_id, kind,
      case when kind = any(${call.awaited}::text[]) then 'expected' else 'missing' end, email_hashes
    from (${stored}) as s (attempt_id)
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (person_id text, email_hashes text[])
    cross join unnest(${call.kinds}::text[]) as kind
    on conflict do nothing`;
}

/** Hashes of the e-mails that identify a person. E-mails of shared mailboxes are left out. */
export function hashIdentifyingEmails(
  attemptId: string,
  emails: readonly (string | null | undefined)[],
): string[] {
  return emails.flatMap((each) => {
    const email = parseEmail(each ?? '');
    return email === undefined || isSharedMailbox(email) ? [] : [hashForAttempt(attemptId, email)];
  });
}

/** Key of an expected result in `DeliveredResults`: kind and hash of the person, such as `phone/3f2a…`. */
export function expectedResultEntry({ attemptId }: LockedCall, { personId, kind }: ExpectedResult): string {
  return `${kind}/${hashPersonForAttempt(attemptId, personId)}`;
}

/**
 * Marks expected results as delivered, once each: `filled` if the delivery brings a value, `missing` if it only reports
 * that none was found. A later value replaces `missing`.
 */
export async function markResultsFilled(
  transaction: Transaction<Tables>,
  call: LockedCall,
  deliveryId: string,
  { covers, brings }: DeliveredResults,
): Promise<void> {
  const filled = call.expected.flatMap((result) => {
    const entry = expectedResultEntry(call, result);
    const status = brings.includes(entry) ? 'filled' : 'missing';
    const isChanged = status === 'filled' ? result.status !== 'filled' : result.status === 'expected';
    return isChanged && covers.includes(entry)
      ? [{ person_id: result.personId, kind: result.kind, status }]
      : [];
  });
  await sql`
    update expected_results e set status = f.status, delivery_id = ${deliveryId}
    from jsonb_to_recordset(${JSON.stringify(filled)}::jsonb) as f (person_id text, kind text, status text)
    where e.attempt_id = ${call.attemptId} and e.person_id = f.person_id and e.kind = f.kind
  `.execute(transaction);
}

/** Marks the expected results of these kinds as missing if they have not arrived. */
export async function markResultsMissing(
  transaction: Transaction<Tables>,
  call: LockedCall,
  kinds: readonly LateKind[],
): Promise<void> {
  if (kinds.length === 0) return;
  await sql`
    update expected_results set status = 'missing'
    where attempt_id = ${call.attemptId} and kind = any(${kinds}::text[]) and status = 'expected'
  `.execute(transaction);
  await settleLateCredits(transaction, call.attemptId);
}

/** The runs to sync: one run, or all runs that have ended or lost their workflow. */
export type LateResultsScope = { readonly runId: string } | 'unattended';

/** A due poll of a run with a workflow is made within this time, unless the rate window is full. */
const attendedSeconds = 15 * 60;

/**
 * SQL condition: due work of a run is in a scope. Tables do not show that a workflow was terminated, so a run is
 * unattended if its work is long overdue. Taking work from a slow run does no harm, because each effect happens once.
 */
export function isInScope(
  scope: LateResultsScope,
  runId: RawBuilder<unknown>,
  due: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (scope !== 'unattended') return sql`${runId} = ${scope.runId}`;
  return sql`(${due} < clock_timestamp() - make_interval(secs => ${attendedSeconds})
    or exists (select 1 from runs r where r.run_id = ${runId} and r.finished_at is not null))`;
}
