import { randomUUID } from 'node:crypto';
import { sql, type Kysely, type Transaction } from 'kysely';
import { Problem, type DecisionNote } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import { forgetUpserts } from '../people/change-feed.ts';
import { rewriteContactKeys } from '../people/record-contacts.ts';
import { digestQueued, lockDigest } from '../people/digest.ts';
import { queueContacts, queuePeople, queuePeopleWithKeys } from '../people/digest-queue.ts';
import { unnestRows, unnestContacts, type ContactKey } from '../keys/contact-key.ts';
import { isAboutPeople, type PersonReference } from '../people/people-tables.ts';
import { containsAny, findPersonTraces, identifyingTexts, type PersonTraces } from './person-traces.ts';
import { clearPersonalData } from '../suppression/drop-suppressed.ts';
import {
  hideSuppressedPeople,
  lockSuppressionsExclusive,
  addSuppressions,
} from '../suppression/suppression-list.ts';
import type { Tables } from '../db/schema.ts';

/** Numbers of what an erasure removes or clears. */
export interface ErasureFigures {
  readonly contacts: number;
  readonly phones: number;
  readonly observations: number;
  readonly rows: number;
  /** Number of stored answers. Each is removed as a whole, with its data about other people. */
  readonly answers: number;
  readonly deliveries: number;
  /** Number of the person's identity keys that are removed from the lookup history. */
  readonly lookup_keys: number;
}

/** Counts what `erase` would remove, and changes nothing. @param keys identity keys of one person */
export async function measureErasure(
  { database }: Warehouse,
  keys: readonly string[],
): Promise<ErasureFigures> {
  return measure(database, await findPersonTraces(database, keys));
}

/** Counts the traces in the tables, before they are removed. */
async function measure(database: Kysely<Tables>, traces: PersonTraces): Promise<ErasureFigures> {
  const { rows } = await sql<ErasureFigures>`
    select ${traces.contacts.length}::int as contacts,
      (
        select count(*)::int
        from run_rows
        where (run_id, row_number) in (select * from ${unnestRows(traces.rows)})
      ) as rows,
      (select count(*)::int from observation_log where ${isAboutPeople(traces.people)}) as observations,
      (select count(*)::int from person_phones where ${isAboutPeople(traces.people)}) as phones,
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

/** SQL condition: a delivery names the person, or belongs to a call for the person. */
const isDelivered = ({ attemptIds, personIds }: PersonTraces) => sql`
  delivery_id in (
    select delivery_id from webhook_deliveries where attempt_id = any(${attemptIds}::text[])
    union all
    select delivery_id from webhook_deliveries where person_ids <> '{}' and person_ids && ${personIds}::text[])`;

/** SQL query of the hashes under which the lookup history has a person, at all services. */
const lookupKeysOf = ({ forms }: PersonTraces) => sql`
  select key_hash(form, service)
  from unnest(${forms}::text[]) as form
  cross join (select distinct service from lookup_runs) services`;

/**
 * Removes a person and suppresses the person, in one transaction. Bodies of answers and deliveries go as a whole,
 * because a body without one of its people would not be what the service sent. Counts of rows, calls and credits stay.
 *
 * @param keys identity keys of one person; unknown keys are added to the list too
 * @throws Problem `erasure.samples-left` after the commit
 */
export async function erase(
  warehouse: Warehouse,
  keys: readonly string[],
  note: DecisionNote,
): Promise<ErasureFigures> {
  // The first search takes no lock, so other transactions wait only for the second, shorter search.
  const { keys: known } = await findPersonTraces(warehouse.database, keys);
  const { database } = warehouse;
  const figures = await warehouse.database.transaction().execute(async (transaction) => {
    // This lock comes before any other lock, so that running transactions end first and later ones see the new entries.
    await lockSuppressionsExclusive(transaction);
    await lockDigest(transaction);
    await digestQueued(transaction, database);
    const traces = await findPersonTraces(transaction, known);
    await addSuppressions(transaction, [...traces.keys, ...traces.recordKeys], {
      ...note,
      reason: note.reason ?? 'erased',
    });
    // Contacts that could have been the erased person may now get another person.
    await queuePeopleWithKeys(
      transaction,
      sql`select unnest(match_keys) from contact_records where ${isOfContacts(traces.records)}`,
    );
    const removed = await measure(transaction, traces);
    await eraseObservations(transaction, traces.people);
    await eraseRecords(transaction, traces);
    await queueContacts(transaction, traces.records);
    await queuePeople(transaction, traces.people);
    await sql`delete from raw_answers where attempt_id = any(${traces.attemptIds}::text[])`.execute(
      transaction,
    );
    await sql`
      update webhook_deliveries set body = null, person_ids = '{}'
      where ${isDelivered(traces)} and status <> 'received'
    `.execute(transaction);
    await sql`
      update attempt_people set person_id = null where person_id = any(${traces.personIds}::text[])
    `.execute(transaction);
    await hideSuppressedPeople(transaction, traces.attemptIds, traces.personIds);
    await eraseFileNames(transaction, traces.forms);
    await clearRows(transaction, traces);
    await sql`delete from contact_decisions where ${isAboutPeople(traces.people)}`.execute(transaction);
    // A record with two people keeps the decisions about the other person.
    await sql`
      delete from contact_decisions
      where ${isOfContacts(traces.records)} and record_hash = any(${traces.recordHashes}::text[])
    `.execute(transaction);
    await digestQueued(transaction, database);
    // The digest has already ended the matches of the person.
    await sql`delete from contact_matches where ${isAboutPeople(traces.people)}`.execute(transaction);
    await forgetUpserts(transaction, traces.records);
    await sql`delete from claims where identity_key = any(${traces.forms}::text[])`.execute(transaction);
    await sql`delete from lookup_history where key_hash in (${lookupKeysOf(traces)})`.execute(transaction);
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
 * Runs ANALYZE, because until then the view pg_stats shows samples of the removed values.
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

/** Clears the rows of the person. Numbers and outcomes stay; rows without an outcome become suppressed. */
async function clearRows(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  // Rows are locked in the same order as by plans and pruning, to avoid deadlocks.
  await sql`
    with locked as (
      select r.run_id, r.row_number
      from run_rows r
      where (r.run_id, r.row_number) in (select * from ${unnestRows(traces.rows)})
      order by r.run_id, r.row_number
      for update
    )
    update run_rows r set ${clearPersonalData}, contact_id = 'erased:' || r.row_number,
      reason = case when r.outcome is null then 'erased before an answer was recorded' else r.reason end,
      outcome = coalesce(r.outcome, 'suppressed')
    from locked theirs where r.run_id = theirs.run_id and r.row_number = theirs.row_number
  `.execute(transaction);
}

/**
 * Overwrites the path and name of a run's export if they contain an identifier of the person. A run that has not staged
 * its export still needs them.
 */
async function eraseFileNames(transaction: Transaction<Tables>, forms: readonly string[]): Promise<void> {
  // Ids of the service are left out, because a short id can be part of an unrelated file name.
  const texts = identifyingTexts(forms.filter((form) => !form.startsWith('person:')));
  await sql`
    update runs set file_path = 'erased', file_name = 'erased'
    where (ingested_at is not null or finished_at is not null)
      and (${containsAny(sql`file_path`, texts)} or ${containsAny(sql`file_name`, texts)})
  `.execute(transaction);
}

/** Removes the observations of a person, and the facts about companies that no other observation refers to. */
async function eraseObservations(
  transaction: Transaction<Tables>,
  people: readonly PersonReference[],
): Promise<void> {
  const { rows } = await sql<{ hash: Buffer; key: string }>`
    delete from observation_log where ${isAboutPeople(people)}
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
 * Removes the cells of the person's rows, and all cells of a CRM record that has no other person now. Otherwise an
 * earlier row would link the contact to its former person.
 */
async function eraseRecords(
  transaction: Transaction<Tables>,
  { rows, records, people }: PersonTraces,
): Promise<void> {
  await sql`
    delete from contact_records where (run_id, row_number) in (select * from ${unnestRows(rows)})
  `.execute(transaction);
  await sql`
    delete from contact_records k
    where ${isOfContacts(records)} and not exists (
      select from contacts
      where source = k.source and contact_id = k.contact_id and not ${isAboutPeople(people)})
  `.execute(transaction);
  await rewriteContactKeys(transaction, records);
}

/** SQL condition on a table with `source` and `contact_id`: the row belongs to one of these contacts. */
function isOfContacts(contacts: readonly ContactKey[]) {
  return sql`(source, contact_id) in (select * from ${unnestContacts(contacts)})`;
}
