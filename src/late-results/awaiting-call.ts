import { sql, type Transaction } from 'kysely';
import type { LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';
import type { Tables } from '../db/schema.ts';
import { keyOfId } from '../people/observation.ts';
import type { LateRecipient } from './late-observations.ts';
import { keyOfObservation } from '../suppression/compared-keys.ts';

export interface LockedAttempt {
  readonly attemptId: string;
  readonly runId: string;
  readonly status: string;
  readonly requestId: string | null;
  readonly people: number;
  readonly hasAnswer: boolean;
  readonly foundIds: readonly string[];
  readonly foundPeople: number;
  readonly idsOfRows: readonly string[];
  readonly awaits: readonly LateKind[];
  readonly options: RunOptions;
  readonly runEnded: boolean;
}

/** A person of a call whom a body may concern. */
export interface NamedRecipient extends LateRecipient {
  /** Keys that the suppression list may have. */
  readonly keys: readonly string[];
}

/** Locks a call: its deliveries are applied one after another. */
export async function lockAttempt(
  transaction: Transaction<Tables>,
  attemptId: string,
): Promise<LockedAttempt> {
  const locked = await sql<LockedAttempt>`
    select a.attempt_id as "attemptId", a.run_id as "runId", a.status, a.request_id as "requestId", a.people,
      a.answered_at is not null as "hasAnswer", a.found_ids as "foundIds", a.found_people as "foundPeople",
      a.awaits, r.options, r.finished_at is not null as "runEnded",
      array(select person_id from attempt_people p where p.attempt_id = a.attempt_id and person_id is not null)
        as "idsOfRows"
    from attempts a join runs r using (run_id) where a.attempt_id = ${attemptId} for update of a
  `.execute(transaction);
  const attempt = locked.rows[0];
  if (!attempt) throw new Error(`attempt ${attemptId} does not exist`);
  return attempt;
}

/** Condition of an observation: an answer named the person. */
const isOfAnswer = sql`kind = 'answer'`;

/**
 * The people of a call, with and without a row.
 *
 * A body brings results only for people whom its call was about: the people of the answer. Without an answer, these are
 * people of other answers who share an identity key with a row that was asked for. Only confirmed addresses identify a
 * person: those in the answer, and the row's address if it was the evidence. The suppression list is compared with
 * every key that an answer or the row has for the person.
 *
 * @param personIds ids in the body
 */
export async function readRecipients(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  personIds: readonly string[],
): Promise<NamedRecipient[]> {
  const { foundIds, hasAnswer, options } = attempt;
  const ownIds = hasAnswer ? personIds.filter((id) => foundIds.includes(id)) : personIds;
  const personKeys = [...new Set([...foundIds, ...ownIds])].map(keyOfId);
  const recipients = await sql<NamedRecipient>`
    with known as materialized (
      select o.person_id, o.run_id, o.attempt_id, o.kind, o.asked_at, o.identity_keys, o.facts
      from observation_log o
      where o.service = ${options.service} and o.person_key = any(${personKeys}::text[]) and o.person_id is not null
    ), of_contacts as (${contactsOfCall(attempt)}
    ), all_recipients as (
      select * from of_contacts
      union all ${peopleWithoutRow(attempt)}
      union all ${peopleOfOtherAnswers(attempt)}
    )
    select person_id as "personId", run_id as "runId", row_number as "rowNumber", attempt_id as "attemptId",
      admitted_at::text as "askedAt", array_remove(emails, null) as emails,
      array_remove(keys, null) || array(
        select ${keyOfObservation}
        from known k
        cross join unnest(k.identity_keys) as identity_key
        where k.person_id = e.person_id) as keys
    from all_recipients e
    order by source, contact_id, row_number, person_id
  `.execute(transaction);
  return recipients.rows;
}

/** Query of the rows of the call. */
const contactsOfCall = ({ attemptId }: LockedAttempt) => sql`
  select runs.source, r.contact_id, p.person_id, p.run_id, p.row_number,
    p.attempt_id, a.admitted_at,
    array[c.email, case when p.evidence = 'email' and coalesce(cardinality(r.other_emails), 0) = 0
      then r.email end] as emails,
    r.keys || array['person:' || p.person_id, 'email:' || c.email, 'domain:' || r.domain,
      'domain:' || c.organization_domain] as keys
  from attempt_people p join attempts a using (attempt_id)
  join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
  join runs on runs.run_id = p.run_id
  left join enriched_contacts c on c.source = runs.source and c.contact_id = r.contact_id
    and c.person_id = p.person_id
  where p.outcome = 'enriched' and p.person_id is not null
    and p.attempt_id = ${attemptId}`;

/** Query of the people of the answer who belong to no row of the call. */
const peopleWithoutRow = ({ attemptId }: LockedAttempt) => sql`
  select null, null, person_id, run_id, null, attempt_id, asked_at,
    array[facts -> 'email' ->> 'email'], '{}'
  from known
  where attempt_id = ${attemptId} and kind = 'answer'
    and person_id not in (select person_id from of_contacts where attempt_id = ${attemptId})`;

/** Query of the people of other answers whom a call without an answer asked for. */
const peopleOfOtherAnswers = ({ attemptId, hasAnswer }: LockedAttempt) => sql`
  select null, null, k.person_id, a.run_id, null, a.attempt_id, a.admitted_at,
    array(select facts -> 'email' ->> 'email' from known where person_id = k.person_id and ${isOfAnswer}),
    k.keys
  from (
    select known.person_id, array_agg(asked_key) as keys
    from known
    join attempt_people p on p.attempt_id = ${attemptId}
    join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number and r.keys && known.identity_keys
    cross join unnest(r.keys) as asked_key
    where not ${hasAnswer} and ${isOfAnswer}
    group by known.person_id
  ) k
  join attempts a on a.attempt_id = ${attemptId}`;

/**
 * The ids of people whom a call without an answer did not ask for: other answers have the person, and no row of the
 * call has a key of the person.
 */
export async function idsOfOthers(
  transaction: Transaction<Tables>,
  { attemptId, options: { service } }: LockedAttempt,
  knownIds: readonly string[],
): Promise<string[]> {
  if (knownIds.length === 0) return [];
  const others = await sql<{ id: string }>`
    select distinct person_id as id from observation_log
    where service = ${service} and person_key = any(${knownIds.map(keyOfId)}::text[]) and person_id is not null
    except
    select o.person_id
    from observation_log o
    join attempt_people p on p.attempt_id = ${attemptId}
    join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
    where o.service = ${service} and o.person_key = any(${knownIds.map(keyOfId)}::text[])
      and o.identity_keys && r.keys
  `.execute(transaction);
  return others.rows.map(({ id }) => id);
}

export async function isRequestOfAnother(
  transaction: Transaction<Tables>,
  { attemptId, options: { service } }: LockedAttempt,
  requestId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from attempts a join runs r using (run_id)
    where a.request_id = ${requestId} and a.attempt_id <> ${attemptId} and r.options ->> 'service' = ${service} limit 1
  `.execute(transaction);
  return rows.length > 0;
}

/** The ids of a body that an answer of any call has stated: such an id identifies that person alone. */
export async function idsInLog(
  transaction: Transaction<Tables>,
  service: string,
  personIds: readonly string[],
): Promise<string[]> {
  if (personIds.length === 0) return [];
  const known = await sql<{ id: string }>`
    select distinct person_id as id from observation_log
    where service = ${service} and person_key = any(${personIds.map(keyOfId)}::text[])
      and ${isOfAnswer} and person_id is not null
  `.execute(transaction);
  return known.rows.map(({ id }) => id);
}
