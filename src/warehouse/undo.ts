import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { fieldGroups } from '../domain/merge-policy.ts';
import type { Warehouse } from './database.ts';
import { isListedContact } from './export-contacts.ts';
import { hasSuppressions, holdSuppressions, lockSuppressions } from './suppressions.ts';
import type { ContactPhonesTable, EnrichedContactsTable, Tables } from './tables.ts';

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
  let after: ContactKey | undefined;
  while (!signal.aborted) {
    const batch = await undoBatch(warehouse, runId, after);
    if (!batch) return { ...sumOf(batches), complete: true };
    batches.push(...batch.figures);
    after = batch.last;
    progress(batches.length * contactsPerBatch);
  }
  return { ...sumOf(batches), complete: false };
}

/** Under the lock that every writer of contacts holds: who has not seen the mark has committed, and is taken back as well. */
async function markUndone(warehouse: Warehouse, runId: string, note: UndoNote): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    await lockSuppressions(transaction);
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
): Promise<{ readonly last: ContactKey; readonly figures: readonly BatchFigures[] } | undefined> {
  return database.transaction().execute(async (transaction) => {
    // Nobody is erased between the look at what they were and its being written.
    await holdSuppressions(transaction);
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
    return { last, figures: rows };
  });
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
 * nobody has written the contact since; `others` has the runs that have written those that are left alone.
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
    theirs as (${theirs}), bounds as (
      select source, contact_id, coalesce(max(j.entry_id) filter (where j.run_id <> ${runId}), 0) as others_last,
        min(j.entry_id) filter (where j.run_id = ${runId}) as first
      from theirs join contact_journal j using (source, contact_id) group by source, contact_id
    ), entries as (
      select j.source, j.contact_id, j.number, array_agg(j.entry_id) as entry_ids, (array_agg(j.former order by j.entry_id))[1] as former
      from bounds b join contact_journal j using (source, contact_id)
      where j.run_id = ${runId} and j.entry_id > b.others_last group by j.source, j.contact_id, j.number
    ), taken as materialized (
      select source, contact_id, number, entry_ids, person_id, withheld, case when not withheld then former end as former
      from (
        select e.*, e.former ->> 'person_id' as person_id,
          bool_or(e.former is not null and ${isListed}) over (partition by e.source, e.contact_id, e.former ->> 'person_id') as withheld
        from entries e
      ) known
    ), left_alone as (
      select source, contact_id, first from bounds where first < others_last
    ), others as (
      select j.run_id, count(distinct (j.source, j.contact_id))::int as contacts
      from left_alone l join contact_journal j using (source, contact_id)
      where j.run_id <> ${runId} and j.entry_id > l.first group by j.run_id
    )`;
}

/** A contact that is gone by now, such as of somebody who was erased, stays away and counts nowhere. */
const figures = sql`
  select count(*) filter (where created)::int as removed, count(*) filter (where withheld)::int as withheld,
    count(*) filter (where not created and not withheld)::int as restored,
    (select count(*)::int from left_alone) as "leftAlone",
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

/** Under how many names it is remembered that a run asked for people, and no later run has. */
export async function countRemembered(database: Kysely<Tables>, runId: string): Promise<number> {
  const { rows } = await sql<{ names: number }>`
    select count(distinct identity_key)::int as names from identity_memory where run_id = ${runId}
  `.execute(database);
  return rows[0]!.names;
}

/**
 * Forgets that a run asked for its people: whichever run comes next asks for them, and pays for them, again.
 *
 * @returns under how many names it was remembered
 */
export async function forgetAsked({ database }: Warehouse, runId: string): Promise<number> {
  // In the order in which it is written, so that whoever remembers the same people waits only one way round.
  const { rows } = await sql<{ names: number }>`
    with locked as (
      select identity_key, field_group from identity_memory where run_id = ${runId} order by identity_key, field_group for update
    ), forgotten as (
      delete from identity_memory m using locked l
      where m.identity_key = l.identity_key and m.field_group = l.field_group returning m.identity_key
    )
    select count(distinct identity_key)::int as names from forgotten
  `.execute(database);
  return rows[0]!.names;
}

/** Other runs that are undone and have contacts left alone: this run may have been in their way. */
export async function undoneRunsLeft({ database }: Warehouse, runId: string): Promise<string[]> {
  const { rows } = await sql<{ runId: string }>`
    select r.run_id as "runId" from runs r where r.undone_at is not null and r.run_id <> ${runId}
      and exists (select 1 from contact_journal j where j.run_id = r.run_id) order by r.created_at desc
  `.execute(database);
  return rows.map((row) => row.runId);
}
