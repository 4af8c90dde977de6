/** Enriched contacts and the history of lookups; `schema.ts` explains the columns. */
export const peopleTables = [
  // The service is part of the key: what one service answered says nothing of what another one knows.
  `create table enrichment.lookup_history (
    identity_key text not null,
    field_group text not null,
    outcome text not null,
    asked_at timestamptz not null,
    run_id text not null,
    service text not null default '',
    primary key (identity_key, field_group)
  )`,

  `create table enrichment.enriched_contacts (
    source text not null,
    contact_id text not null,
    person_id text,
    first_name text,
    last_name text,
    email text,
    email_status text,
    title text,
    headline text,
    seniority text,
    departments text[],
    city text,
    state text,
    country text,
    organization_id text,
    organization_name text,
    organization_domain text,
    organization_industry text,
    organization_employees integer,
    phone text,
    linkedin_url text,
    profile_url text,
    enriched_at timestamptz not null,
    run_id text not null,
    attempt_id text not null,
    row_number integer not null,
    primary key (source, contact_id)
  )`,
  `create index enriched_contacts_by_person on enrichment.enriched_contacts (person_id)`,

  `create table enrichment.contact_phones (
    source text not null,
    contact_id text not null,
    person_id text not null,
    number text not null,
    e164 text,
    raw_number text,
    type text,
    status text,
    dnc_status text,
    confidence text,
    position integer not null,
    origin text not null check (origin in ('reveal', 'waterfall')),
    attempt_id text not null,
    run_id text not null,
    delivery_id text not null,
    asked_at timestamptz not null,
    primary key (source, contact_id, number)
  )`,

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
