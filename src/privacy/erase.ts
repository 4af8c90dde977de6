import { randomUUID } from 'node:crypto';
import { sql, type Kysely, type Transaction } from 'kysely';
import { Problem, type Note } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import { anyValue, anyOf } from '../db/expressions.ts';
import { exportOrder } from '../db/run-states.ts';
import { freeStatuses } from '../domain/money/attempt-status.ts';
import { forgetUpserts } from '../people/change-feed.ts';
import { rewriteContactKeys } from '../people/record-contacts.ts';
import { digestQueued, lockDigest } from '../people/digest.ts';
import { queueContacts, queuePeople } from '../people/digest-queue.ts';
import { keyOfId } from '../people/observation.ts';
import { unnestRows, unnestContacts, type ContactKey } from '../keys/contact-key.ts';
import { isOfPeople, type PersonName } from '../people/people-tables.ts';
import { asWord, findPerson, textsOf, type PersonTraces } from './person-traces.ts';
import { clearPersonalData } from '../suppression/drop-suppressed.ts';
import {
  hideFoundPeople,
  isHiddenId,
  withoutIds,
  lockSuppressionsExclusive,
  suppress,
} from '../suppression/suppression-list.ts';
import type { Tables } from '../db/schema.ts';

export interface ErasureFigures {
  readonly contacts: number;
  readonly phones: number;
  readonly observations: number;
  readonly rows: number;
  /** Bodies of answers. Each is removed whole, together with its data about other people. */
  readonly answers: number;
  readonly deliveries: number;
  /** Identity keys in the lookup history. */
  readonly lookup_keys: number;
}

/**
 * Measures what `erase` would remove, without a change.
 *
 * @param keys identity keys of one person
 */
export async function measureErasure(
  { database }: Warehouse,
  keys: readonly string[],
): Promise<ErasureFigures> {
  return measure(database, await findPerson(database, keys));
}

async function measure(database: Kysely<Tables>, traces: PersonTraces): Promise<ErasureFigures> {
  const { rows } = await sql<ErasureFigures>`
    select ${traces.contacts.length}::int as contacts,
      (
        select count(*)::int
        from run_rows
        where (run_id, row_number) in (select * from ${unnestRows(traces.rows)})
      ) as rows,
      (select count(*)::int from observation_log where ${isOfPeople(traces.people)}) as observations,
      (select count(*)::int from person_phones where ${isOfPeople(traces.people)}) as phones,
      (select count(*)::int from raw_answers where attempt_id = any(${traces.attemptIds}::text[])) as answers,
      (select count(*)::int from webhook_deliveries where ${isDelivered(traces)} and body is not null) as deliveries,
      (
        select count(distinct key_hash)::int
        from lookup_history
        where key_hash in (${lookupKeysOf(traces)})
      ) as lookup_keys
  `.execute(database);
  return rows[0]!;
}

/** Condition: a delivery is of a call of the person, or names the person. */
const isDelivered = ({ attemptIds, personIds }: PersonTraces) => sql`
  delivery_id in (
    select delivery_id from webhook_deliveries where attempt_id = any(${attemptIds}::text[])
    union all
    select delivery_id from webhook_deliveries where person_ids <> '{}' and person_ids && ${personIds}::text[])`;

/** Query of the hashes under which the lookup history has a person, at every service. */
const lookupKeysOf = ({ forms }: PersonTraces) => sql`
  select key_hash(form, service)
  from unnest(${forms}::text[]) as form
  cross join (select distinct service from lookup_runs) services`;

/**
 * Removes a person from the warehouse and puts the person on the suppression list, in one transaction. Counts of rows,
 * calls and credits stay. A late result about the person is dropped when it arrives.
 *
 * Bodies of answers and deliveries are removed whole: each holds up to ten people, and a body without one of them would
 * be something that the service never sent. A delivery that is not applied yet is applied first, and its body goes
 * then.
 *
 * @param keys identity keys of one person; unknown keys are put on the list as well
 * @returns what was removed
 * @throws Problem `erasure.samples-left` after the commit
 */
export async function erase(
  warehouse: Warehouse,
  keys: readonly string[],
  note: Note,
): Promise<ErasureFigures> {
  // Searched without the lock first, so that other transactions wait only for the second, shorter search.
  const { keys: known } = await findPerson(warehouse.database, keys);
  const { database } = warehouse;
  const figures = await warehouse.database.transaction().execute(async (transaction) => {
    // Before any other lock: transactions that write about people end first, and later ones see the new entries.
    await lockSuppressionsExclusive(transaction);
    await lockDigest(transaction);
    await digestQueued(transaction, database);
    const traces = await findPerson(transaction, known);
    await suppress(transaction, [...traces.keys, ...traces.recordKeys], {
      ...note,
      reason: note.reason ?? 'erased',
    });
    await queueNearby(transaction, traces);
    const removed = await measure(transaction, traces);
    const unnamed = await peopleOfLostCalls(transaction, traces.attemptIds);
    // The change feed shows only that contacts were deleted. A contact that belonged to the person once and belongs to
    // another person now stays.
    const people = [...traces.people, ...unnamed];
    await eraseObservations(transaction, people);
    await eraseRecords(transaction, traces);
    await queueContacts(transaction, traces.records);
    await queuePeople(transaction, people);
    await transaction
      .deleteFrom('raw_answers')
      .where('attempt_id', '=', anyValue(traces.attemptIds))
      .execute();
    await sql`
      update webhook_deliveries set body = null
      where ${isDelivered(traces)} and body is not null and status <> 'received'
    `.execute(transaction);
    await forgetIds(transaction, traces);
    await eraseFromFileNames(transaction, traces.forms);
    await clearRows(transaction, traces);
    await eraseDecisions(transaction, traces);
    await digestQueued(transaction, database);
    await eraseMatches(transaction, traces);
    await forgetUpserts(transaction, traces.records);
    await transaction.deleteFrom('claims').where('identity_key', '=', anyValue(traces.forms)).execute();
    await sql`
      delete from lookup_history
      where key_hash in (${lookupKeysOf(traces)})
    `.execute(transaction);
    await sql`
      insert into erasures (erasure_id, erased_by, reason, removed)
      values (${randomUUID()}, ${note.by}, ${note.reason ?? null}, ${JSON.stringify(removed)}::jsonb)
    `.execute(transaction);
    return removed;
  });
  await replaceSamples(warehouse);
  return figures;
}

/**
 * PostgreSQL keeps samples of each column (pg_stats), also of removed rows, until the table is analysed again.
 *
 * @throws Problem `erasure.samples-left`
 */
async function replaceSamples({ database }: Warehouse): Promise<void> {
  const analysis = sql`
    analyze run_rows, contact_records, contact_keys, contact_matches, contact_decisions, observation_log, people,
      person_history, person_keys, changes, digest_queue, organization_facts, runs, attempts, attempt_people,
      expected_results, raw_answers, quarantined_people, webhook_deliveries, claims, lookup_history
  `.execute(database);
  await analysis.catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Problem(
      'erasure.samples-left',
      `the person is erased, but PostgreSQL can still show samples of removed values in pg_stats: ${reason}`,
      { next: 'enrich sql, and in psql: analyze', cause },
    );
  });
}

/** Contacts that were refused a person because they could as well have been the erased one get that person. */
async function queueNearby(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  const { rows } = await sql<{ service: string; personKey: string }>`
    select distinct p.service, p.person_key as "personKey"
    from contact_records k
    cross join unnest(k.match_keys) as own (key)
    join person_keys p on p.key = own.key
    where ${isOfContacts(traces.records)}
  `.execute(transaction);
  await queuePeople(transaction, rows);
}

/** Replaces the person's ids where only the number of ids matters. */
async function forgetIds(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  const { personIds, attemptIds } = traces;
  await transaction
    .updateTable('attempt_people')
    .set({ person_id: null })
    .where('person_id', '=', anyValue(personIds))
    .execute();
  await hideFoundPeople(transaction, attemptIds, personIds);
  const delivered = [...personIds, ...(await idsOnlyInDeliveries(transaction, attemptIds))];
  await sql`
    update webhook_deliveries set person_ids = ${withoutIds('person_ids', delivered)}
    where ${isDelivered(traces)} and person_ids && ${delivered}::text[]
  `.execute(transaction);
}

/**
 * Reads the ids in deliveries of calls that no answer has for another person: a delivery can name the erased person by
 * an id of its own.
 */
async function idsOnlyInDeliveries(
  transaction: Transaction<Tables>,
  attemptIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct id
    from webhook_deliveries d
    cross join unnest(d.person_ids) as id
    where d.attempt_id = any(${attemptIds}::text[])
  `.execute(transaction);
  const ids = rows.flatMap(({ id }) => (isHiddenId(id) ? [] : [id]));
  const others = await sql<{ key: string }>`
    select distinct person_key as key from observation_log where person_key = any(${ids.map(keyOfId)}::text[])
  `.execute(transaction);
  const known = new Set(others.rows.map(({ key }) => key));
  return ids.filter((id) => !known.has(keyOfId(id)));
}

/**
 * Reads the people whom only deliveries of calls without an answer have named: one of them can be the erased person,
 * and nothing tells who.
 */
async function peopleOfLostCalls(
  transaction: Transaction<Tables>,
  attemptIds: readonly string[],
): Promise<readonly PersonName[]> {
  const { rows } = await sql<PersonName>`
    select distinct o.service, o.person_key as "personKey"
    from attempts a
    join observation_log o on o.run_id = a.run_id and o.attempt_id = a.attempt_id
    where a.attempt_id = any(${attemptIds}::text[]) and a.answered_at is null
      and not exists (
        select from observation_log other
        where other.service = o.service and other.person_key = o.person_key and other.kind = 'answer')
  `.execute(transaction);
  return rows;
}

/** How far the call for an open row `r` is. The answer to a call in flight adds what became of the call. */
const whyErased = sql`(
  select case
    when bool_or(a.status = 'admitted') then 'erased while its call was in flight'
    when bool_or(a.status not in (${anyOf(freeStatuses)})) then 'erased after a call whose answer was lost'
    else 'erased before its call'
  end
  from attempt_people p
  join attempts a using (attempt_id)
  where p.run_id = r.run_id and p.row_number = r.row_number
)`;

/** Clears the person's rows. Rows keep number and outcome, so that a file still adds up; an open row is suppressed. */
async function clearRows(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  // In the same order as plans and pruning, so that two transactions cannot wait for each other.
  await sql`
    with locked as (
      select r.run_id, r.row_number
      from run_rows r
      where (r.run_id, r.row_number) in (select * from ${unnestRows(traces.rows)})
      order by r.run_id, r.row_number
      for update
    )
    update run_rows r set ${clearPersonalData}, contact_id = 'erased:' || r.row_number,
      reason = case when r.outcome is null then ${whyErased} else r.reason end,
      outcome = coalesce(r.outcome, 'suppressed')
    from locked theirs where r.run_id = theirs.run_id and r.row_number = theirs.row_number
  `.execute(transaction);
}

/**
 * Removes a person from the paths and URLs of exports, such as a file that is called after the person. A run needs the
 * address only until its rows are staged.
 *
 * @param forms identity keys of the person
 */
async function eraseFromFileNames(transaction: Transaction<Tables>, forms: readonly string[]): Promise<void> {
  // An id of the service is as short as other names of files.
  const patterns = textsOf(forms.filter((form) => !form.startsWith('person:'))).map(asWord);
  if (patterns.length === 0) return;
  // URLs encode the `@` and the `+` of a file name.
  const pattern = patterns
    .join('|')
    .replaceAll('@', '(?:@|%40)')
    .replaceAll(String.raw`\+`, String.raw`(?:\+|%2b)`);
  await sql`
    update runs
    set file_path = regexp_replace(file_path, ${pattern}, 'erased', 'gi'),
      file_name = regexp_replace(file_name, ${pattern}, 'erased', 'gi')
    where (ingested_at is not null or finished_at is not null) and (file_path ~* ${pattern} or file_name ~* ${pattern})
  `.execute(transaction);
}

/** Removes the observations of a person, and what only these said about companies. */
async function eraseObservations(
  transaction: Transaction<Tables>,
  people: readonly PersonName[],
): Promise<void> {
  const { rows } = await sql<{ hash: Buffer; key: string }>`
    delete from observation_log where ${isOfPeople(people)}
    returning organization_facts as hash, organization_key as key
  `.execute(transaction);
  const described = rows.filter(({ hash }) => hash !== null);
  await sql`
    delete from organization_facts f
    where facts_hash = any(${described.map(({ hash }) => hash)}::bytea[])
      and not exists (
        select from observation_log o
        where o.organization_key = any(${described.map(({ key }) => key)}::text[])
          and o.organization_facts = f.facts_hash)
  `.execute(transaction);
}

/**
 * In several statements, because `or` reads the whole log. A contact whose newest record is the person's loses all its
 * records: by an earlier one it would become the person whom it was before.
 */
async function eraseRecords(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  await sql`
    delete from contact_records
    where (source, contact_id) in (
      select source, contact_id
      from (
        select distinct on (k.source, k.contact_id) k.source, k.contact_id, k.run_id, k.row_number
        from contact_records own
        join contact_records k on k.source = own.source and k.contact_id = own.contact_id
        join runs u on u.run_id = k.run_id and u.undone_at is null
        where (own.run_id, own.row_number) in (select * from ${unnestRows(traces.rows)})
        order by k.source, k.contact_id, ${sql.raw(exportOrder('u'))} desc
      ) newest
      where ${isOfRows(traces)})
  `.execute(transaction);
  await sql`delete from contact_records where ${isOfRows(traces)}`.execute(transaction);
  await sql`delete from contact_records where ${isOfContacts(traces.contacts)}`.execute(transaction);
  await rewriteContactKeys(transaction, traces.records);
}

/** Removes former matches, after the digest has ended those of the erased person. */
async function eraseMatches(
  transaction: Transaction<Tables>,
  { people, records }: PersonTraces,
): Promise<void> {
  await sql`delete from contact_matches where ${isOfPeople(people)}`.execute(transaction);
  await sql`delete from contact_matches where valid_to is not null and ${isOfContacts(records)}`.execute(
    transaction,
  );
}

function isOfRows({ rows }: PersonTraces) {
  return sql`(run_id, row_number) in (select * from ${unnestRows(rows)})`;
}

function isOfContacts(contacts: readonly ContactKey[]) {
  return sql`(source, contact_id) in (select * from ${unnestContacts(contacts)})`;
}

/**
 * Removes the decisions about a person, and those about records of the person. A record that was two people keeps the
 * decisions about the other.
 */
async function eraseDecisions(
  transaction: Transaction<Tables>,
  { people, records, recordHashes }: PersonTraces,
): Promise<void> {
  await sql`delete from contact_decisions where ${isOfPeople(people)}`.execute(transaction);
  await sql`
    delete from contact_decisions where ${isOfContacts(records)} and record_hash = any(${recordHashes}::text[])
  `.execute(transaction);
}
