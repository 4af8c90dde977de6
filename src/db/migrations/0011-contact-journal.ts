import { sql, type Kysely } from 'kysely';

/** What contacts and phones were before each run, so that a run can be taken back; `tables.ts` explains the columns. */
export async function up(database: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}

const statements = [
  `create table enrichment.contact_journal (
    entry_id bigint generated always as identity primary key,
    run_id text not null,
    source text not null,
    contact_id text not null,
    number text,
    former jsonb,
    written_at timestamptz not null default clock_timestamp()
  )`,
  `create index contact_journal_by_contact on enrichment.contact_journal (source, contact_id, entry_id)`,
  `create index contact_journal_by_run on enrichment.contact_journal (run_id, source, contact_id)`,
  // Written in the order of time: that is an index of some pages for millions of rows.
  `create index contact_journal_by_age on enrichment.contact_journal using brin (written_at)`,

  // Runs that are there already may have written contacts of which nothing is known any more; those that begin from now on have not.
  `alter table enrichment.runs
    add column journal text not null default 'none' check (journal in ('none', 'kept', 'pruned')),
    add column undone_at timestamptz,
    add column undone_by text,
    add column undone_reason text`,
  `alter table enrichment.runs alter column journal set default 'kept'`,

  // Of one run what a row was before its first write is kept once, until another run writes the contact. By two maxima, each of which is
  // looked up in the index, whatever PostgreSQL knows of the table.
  `create function enrichment.keep_former(writer text, of_source text, of_contact_id text, of_number text, was jsonb)
    returns void language plpgsql as $$
    begin
      if coalesce((select max(entry_id) from enrichment.contact_journal
          where source = of_source and contact_id = of_contact_id and run_id = writer and number is not distinct from of_number), 0)
        <= coalesce((select max(entry_id) from enrichment.contact_journal
          where source = of_source and contact_id = of_contact_id and run_id <> writer), 0)
      then
        insert into enrichment.contact_journal (run_id, source, contact_id, number, former)
        values (writer, of_source, of_contact_id, of_number, was);
      end if;
    end
  $$`,
  // Triggers, for three reasons: what a row was is exact where two runs write it at once; no writer can forget it; and workers of
  // the release before, which go on while they are replaced, keep it as well.
  `create function enrichment.keep_former_contact() returns trigger language plpgsql as $$
    declare
      writer text := new.run_id;
      was jsonb;
    begin
      if tg_op = 'UPDATE' then
        was := to_jsonb(old);
        -- A late result leaves run_id as it is. Where it chose another phone, the number before it says of which run it is.
        if (new.run_id, new.attempt_id) = (old.run_id, old.attempt_id) and new.phone is distinct from old.phone then
          writer := coalesce((select run_id from enrichment.contact_journal
            where source = new.source and contact_id = new.contact_id order by entry_id desc limit 1), writer);
        end if;
      end if;
      perform enrichment.keep_former(writer, new.source, new.contact_id, null, was);
      return null;
    end
  $$`,
  `create function enrichment.keep_former_phone() returns trigger language plpgsql as $$
    begin
      perform enrichment.keep_former(new.run_id, new.source, new.contact_id, new.number,
        case when tg_op = 'UPDATE' then to_jsonb(old) end);
      return null;
    end
  $$`,
  // Taking back is no write of its own.
  ...[
    ['enriched_contacts', 'keep_former_contact'],
    ['contact_phones', 'keep_former_phone'],
  ].map(
    ([
      table,
      keep,
    ]) => `create trigger ${table}_keep_former after insert or update on enrichment.${table} for each row
      when (current_setting('enrichment.undoing', true) is distinct from 'yes') execute function enrichment.${keep}()`,
  ),
];
