import { sql, type RawBuilder, type Transaction } from 'kysely';
import { fieldGroups } from '../domain/identity/field-groups.ts';
import { chooseBest } from '../people/contact-phones.ts';
import type { Warehouse } from '../db/database.ts';
import { isListedContact } from '../export/export-contacts.ts';
import {
  hasSuppressions,
  lockSuppressionsShared,
  lockSuppressionsExclusive,
} from '../privacy/suppressions.ts';
import type { ContactPhonesTable, EnrichedContactsTable, Tables } from '../db/schema.ts';

/** What taking a run back would do, or did. Contacts, if nothing else is said. */
export interface UndoFigures {
  /** Created by the run: they go. */
  readonly removed: number;
  /** Changed by the run: they are again what they were before it. */
  readonly restored: number;
  /** Changed by the run, and formerly about somebody who is on the suppression list by now: they go. */
  readonly withheld: number;
  /** Written by other runs since: left as they are. */
  readonly leftAlone: number;
  /** How many of these each of the other runs has written. */
  readonly leftAloneBy: Readonly<Record<string, number>>;
}

/** Who takes a run back, and why. */
export interface UndoNote {
  readonly by: string;
  readonly reason: string | undefined;
}

/** One transaction takes so many contacts back: others wait for theirs no longer than that takes. */
const contactsPerBatch = 2_000;

const contactColumns = [
  ...fieldGroups.flat(),
  'phone',
  'enriched_at',
  'run_id',
  'attempt_id',
  'row_number',
] as const satisfies readonly (keyof EnrichedContactsTable)[];
const phoneColumns = [
  'person_id',
  'e164',
  'raw_number',
  'type',
  'status',
  'dnc_status',
  'confidence',
  'position',
  'origin',
  'attempt_id',
  'run_id',
  'delivery_id',
  'asked_at',
] as const satisfies readonly (keyof ContactPhonesTable)[];

/**
 * Measures what `undo` would do, and changes nothing. Whom the suppression list keeps from being restored is only found out then:
 * they are counted as restored here.
 */
export async function measureUndo({ database }: Warehouse, runId: string): Promise<UndoFigures> {
  const theirs = sql`select distinct source, contact_id from contact_journal where run_id = ${runId}`;
  const { rows } = await sql<BatchFigures>`
    with ${standing(runId, theirs, sql`false`)} ${figures}
  `.execute(database);
  return sumOf(rows);
}

/**
 * Takes a run back: contacts that it created go, and those that it changed are what they were before it, with their phones. A
 * contact that another run has written since is left alone: when that run is taken back, this one can be taken back for the rest.
 *
 * First the run is marked, so that nothing of it is written any more, whatever comes late; then its contacts follow in batches of one
 * transaction each. Whatever ends it in between, doing it again does the rest.
 *
 * Credits, calls, deliveries, outcomes of rows and the memory of who was asked stay.
 *
 * @param runId a run that has ended, and whose journal is kept
 * @param signal ends it between two batches
 * @param progress is told after each batch how many contacts were looked at so far
 * @throws Error where it has not ended, or its journal is not kept
 * @returns what was done now, and whether that is all
 */
export async function undo(
  warehouse: Warehouse,
  runId: string,
  note: UndoNote,
  signal: AbortSignal,
  progress: (contacts: number) => void = () => {},
): Promise<UndoFigures & { readonly complete: boolean }> {
  await markUndone(warehouse, runId, note);
  const batches: BatchFigures[] = [];
  let contacts = 0;
  let after: ContactKey | undefined;
  while (!signal.aborted) {
    const batch = await undoBatch(warehouse, runId, after);
    if (!batch) return { ...sumOf(batches), complete: true };
    batches.push(batch.figures);
    after = batch.last;
    contacts += batch.contacts;
    progress(contacts);
  }
  return { ...sumOf(batches), complete: false };
}

/** Under the lock that every writer of contacts holds: who has not seen the mark has committed, and is taken back as well. */
async function markUndone(warehouse: Warehouse, runId: string, note: UndoNote): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    await lockSuppressionsExclusive(transaction);
    await sql`
      update runs set undone_at = clock_timestamp(), undone_by = ${note.by}, undone_reason = ${note.reason ?? null}
      where run_id = ${runId} and finished_at is not null and journal = 'kept' and undone_at is null
    `.execute(transaction);
    const marked = await sql`
      select 1 from runs where run_id = ${runId} and undone_at is not null and journal = 'kept'
    `.execute(transaction);
    if (marked.rows.length === 0)
      throw new Error(`run ${runId} has not ended, or what contacts were before it is not kept`);
  });
}

interface ContactKey {
  readonly source: string;
  readonly contactId: string;
}

interface BatchFigures {
  readonly removed: number;
  readonly restored: number;
  readonly withheld: number;
  readonly leftAlone: number;
  readonly leftAloneBy: Readonly<Record<string, number>> | null;
}

async function undoBatch(
  { database }: Warehouse,
  runId: string,
  after: ContactKey | undefined,
): Promise<
  { readonly last: ContactKey; readonly contacts: number; readonly figures: BatchFigures } | undefined
> {
  return database.transaction().execute(async (transaction) => {
    // Nobody is erased between the look at what they were and its being written.
    await lockSuppressionsShared(transaction);
    await sql`select set_config('enrichment.undoing', 'yes', true)`.execute(transaction);
    const keys = await nextContacts(transaction, runId, after);
    const last = keys.at(-1);
    if (!last) return undefined;
    const theirs = sql`
      select * from unnest(${keys.map((key) => key.source)}::text[], ${keys.map((key) => key.contactId)}::text[]) as k (source, contact_id)`;
    // In one order everywhere, so that two who change the same contacts wait for one another only one way round. What follows
    // sees what those have written who were waited for.
    await sql`
      select 1 from enriched_contacts c join (${theirs}) k using (source, contact_id) order by c.source, c.contact_id for update of c
    `.execute(transaction);
    const isListed = (await hasSuppressions(transaction)) ? isFormerListed : sql`false`;
    const givenNumbers = await givenNumbersSince(transaction, runId, theirs);
    const { rows } = await sql<BatchFigures>`
      with ${standing(runId, theirs, isListed)}, forgotten as (
        delete from contact_journal j using taken t where j.entry_id = any(t.entry_ids)
      ), removed as (
        delete from enriched_contacts c using taken t
        where t.number is null and t.former is null and c.source = t.source and c.contact_id = t.contact_id
      ), restored as (
        update enriched_contacts c set ${assignments(contactColumns)}
        from taken t cross join lateral jsonb_populate_record(null::enriched_contacts, t.former) f
        where t.number is null and t.former is not null and c.source = t.source and c.contact_id = t.contact_id
      ), removed_phones as (
        delete from contact_phones p using taken t
        where p.source = t.source and p.contact_id = t.contact_id and ((t.former is null and p.number = t.number)
          -- Numbers of theirs that the run has not written go with the contact.
          or (t.number is null and t.withheld and p.person_id = t.person_id
            and (p.source, p.contact_id, p.number) not in (select source, contact_id, number from taken where number is not null)))
      ), restored_phones as (
        update contact_phones p set ${assignments(phoneColumns)}
        from taken t cross join lateral jsonb_populate_record(null::contact_phones, t.former) f
        where t.former is not null and p.source = t.source and p.contact_id = t.contact_id and p.number = t.number
      ) ${figures}
    `.execute(transaction);
    await sql`select set_config('enrichment.undoing', '', true)`.execute(transaction);
    await chooseBest(transaction, givenNumbers);
    return { last, contacts: keys.length, figures: rows[0]! };
  });
}

/**
 * Contacts that others than the run have given numbers since, and changed in nothing else: late results of an earlier run, for
 * whoever the contact was before. Their best number is chosen as if this run had not been in between.
 */
async function givenNumbersSince(
  transaction: Transaction<Tables>,
  runId: string,
  theirs: RawBuilder<unknown>,
): Promise<readonly ContactKey[]> {
  const { rows } = await sql<ContactKey>`
    select source, contact_id as "contactId" from (${theirs}) k cross join lateral (
      -- One by one, in the index: otherwise PostgreSQL may read all of the journal for each batch.
      select min(entry_id) filter (where run_id = ${runId} and number is null) as first,
        max(entry_id) filter (where run_id <> ${runId} and number is null) as others_last,
        max(entry_id) filter (where run_id <> ${runId} and number is not null) as number_last
      from contact_journal j where j.source = k.source and j.contact_id = k.contact_id
    ) entries where number_last > first and coalesce(others_last, 0) < first
  `.execute(transaction);
  return rows;
}

async function nextContacts(
  transaction: Transaction<Tables>,
  runId: string,
  after: ContactKey | undefined,
): Promise<readonly ContactKey[]> {
  const { rows } = await sql<ContactKey>`
    select distinct source, contact_id as "contactId" from contact_journal
    where run_id = ${runId} and (source, contact_id) > (${after?.source ?? ''}, ${after?.contactId ?? ''})
    order by source, contact_id limit ${contactsPerBatch}
  `.execute(transaction);
  return rows;
}

/**
 * Common table expressions of how a run's contacts stand: `taken` has what each contact and number was before the run, where
 * nobody has written it since; `others` has the runs that have written those that are left alone. A number can be another run's
 * while the contact is not: a late result for whoever the contact was before. Where the contact is another run's, so are its numbers.
 *
 * @param theirs a query of `source` and `contact_id`: contacts of the run
 * @param isListed over `taken`'s entry `e`: its former values are about somebody on the suppression list
 */
function standing(
  runId: string,
  theirs: RawBuilder<unknown>,
  isListed: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    theirs as (${theirs}), known as materialized (
      select source, contact_id, number, entry_id, run_id, greatest(
        max(entry_id) filter (where run_id <> ${runId} and number is null) over (partition by source, contact_id),
        max(entry_id) filter (where run_id <> ${runId}) over (partition by source, contact_id, number), 0) as others_last
      from theirs join contact_journal using (source, contact_id)
    ), entries as (
      select source, contact_id, number, array_agg(entry_id) as entry_ids, min(entry_id) as first
      from known where run_id = ${runId} and entry_id > others_last group by source, contact_id, number
    ), taken as materialized (
      select source, contact_id, number, entry_ids, person_id, withheld, case when not withheld then former end as former
      from (
        select e.*, person_id, bool_or(e.former is not null and ${isListed}) over (partition by e.source, e.contact_id, person_id) as withheld
        from (select entries.*, j.former from entries join contact_journal j on j.entry_id = entries.first) e,
          lateral (select e.former ->> 'person_id' as person_id) whose
      ) listed
    ), left_alone as (
      select source, contact_id, number, min(entry_id) as first from known
      where run_id = ${runId} and entry_id < others_last group by source, contact_id, number
    ), others as (
      select j.run_id, count(distinct (source, contact_id))::int as contacts
      from left_alone l join known j using (source, contact_id)
      where j.run_id <> ${runId} and j.entry_id > l.first and (j.number is null or j.number = l.number) group by j.run_id
    )`;
}

/** A contact that is gone by now, such as of somebody who was erased, stays away and counts nowhere. */
const figures = sql`
  select count(*) filter (where created)::int as removed, count(*) filter (where withheld)::int as withheld,
    count(*) filter (where not created and not withheld)::int as restored,
    (select count(distinct (source, contact_id))::int from left_alone) as "leftAlone",
    (select jsonb_object_agg(run_id, contacts) from others) as "leftAloneBy"
  from (
    select bool_or(t.number is null and t.former is null and not t.withheld) as created, bool_or(t.number is null and t.withheld) as withheld
    from taken t join enriched_contacts c using (source, contact_id) group by source, contact_id
  ) contacts`;

/** The suppression list knows a contact by its columns and by its row; a number by whose it was, and by whom its call had asked for. */
const isFormerListed = sql`exists (
  select 1 from jsonb_populate_record(null::enriched_contacts, e.former) c where exists (${sql.raw(isListedContact)})
) or e.number is not null and exists (
  select 1 from attempt_people p join run_rows r using (run_id, row_number), unnest(r.keys) as identity_key,
    suppression_hashes(identity_key) as form (key_hash) join suppressed_keys using (key_hash)
  where p.attempt_id = e.former ->> 'attempt_id' and p.person_id = e.former ->> 'person_id')`;

function assignments(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql`${sql.ref(column)} = f.${sql.ref(column)}`));
}

function sumOf(batches: readonly BatchFigures[]): UndoFigures {
  const total = (figure: 'removed' | 'restored' | 'withheld' | 'leftAlone'): number =>
    batches.reduce((sum, batch) => sum + batch[figure], 0);
  const leftAloneBy: Record<string, number> = {};
  for (const batch of batches)
    for (const [runId, contacts] of Object.entries(batch.leftAloneBy ?? {}))
      leftAloneBy[runId] = (leftAloneBy[runId] ?? 0) + contacts;
  return {
    removed: total('removed'),
    restored: total('restored'),
    withheld: total('withheld'),
    leftAlone: total('leftAlone'),
    leftAloneBy,
  };
}

/** Other runs that are undone and have contacts left alone: this run may have been in their way. */
export async function undoneRunsLeft({ database }: Warehouse, runId: string): Promise<string[]> {
  const { rows } = await sql<{ runId: string }>`
    select r.run_id as "runId" from runs r where r.undone_at is not null and r.run_id <> ${runId}
      and exists (select 1 from contact_journal j where j.run_id = r.run_id) order by r.created_at desc
  `.execute(database);
  return rows.map((row) => row.runId);
}
