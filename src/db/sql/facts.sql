-- Facts about companies in answers, with the member names of the service's interface. Equal facts are stored once, as
-- the text that arrived: they are read rarely, and building jsonb from them took most of the time to store them.
create table enrichment_internal.organization_facts (
  facts_hash bytea primary key,
  domain text,
  facts json not null
);

create index organization_facts_by_domain on enrichment_internal.organization_facts (domain)
  where domain is not null;

-- Observations, with a hash in place of the facts about the employer.
create table enrichment_internal.observation_log (
  observation_id bigint generated always as identity primary key,
  service text not null,
  -- `person:` with the id of the service; for a person without an id, `row:` with the row that got the person.
  person_key text not null,
  person_id text,
  kind text not null check (kind in ('answer', 'phones', 'waterfall')),
  asked_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  run_id text not null,
  attempt_id text not null,
  delivery_id text,
  -- Key of the company: `id:…`, `domain:…` or `name:…`.
  organization_key text,
  organization_facts bytea,
  identity_keys text[] not null default '{}',
  match_keys integer[] not null default '{}',
  facts jsonb not null
);
alter table enrichment_internal.observation_log alter column run_id set statistics 0;
create index observations_by_person on enrichment_internal.observation_log (person_key, service, observation_id);
create index observations_by_organization
  on enrichment_internal.observation_log (organization_key, service, asked_at desc, observation_id desc)
  where organization_facts is not null;
create index observations_by_run on enrichment_internal.observation_log (run_id, observation_id);
-- With fastupdate, each lookup would read the whole pending list.
create index observations_by_key on enrichment_internal.observation_log using gin (identity_keys)
  with (fastupdate = off);

-- The employer is read by a subquery, so that a query without the employer does not read it.
create view enrichment.observations as
  select o.*,
    (
      select f.facts::jsonb
      from enrichment_internal.organization_facts f
      where f.facts_hash = o.organization_facts
    ) as organization
  from enrichment_internal.observation_log o;
comment on view enrichment.observations is 'Facts about one person in one answer, delivery or poll';
comment on column enrichment.observations.observation_id is 'Key of the entry';
comment on column enrichment.observations.kind is 'answer, phones or waterfall';
comment on column enrichment.observations.organization is 'The employer under the names of the interface document';

-- The cells of a contact in the export of a run, stored only if they changed.
create table enrichment_internal.contact_records (
  source text not null,
  contact_id text not null,
  run_id text not null,
  row_number integer not null,
  recorded_at timestamptz not null default clock_timestamp(),
  person_id text,
  email text,
  other_emails text[],
  hashed_email text,
  profile_url text,
  first_name text,
  last_name text,
  name text,
  organization_name text,
  domain text,
  keys text[] not null,
  match_keys integer[] not null default '{}',
  -- True if the record is suppressed or contested, so that the contact has no person.
  is_blocked boolean not null default false,
  identity_hash bytea,
  primary key (source, contact_id, run_id)
);
alter table enrichment_internal.contact_records alter column run_id set statistics 0;
create index contact_records_by_run on enrichment_internal.contact_records (run_id, row_number);
create index contact_records_by_key on enrichment_internal.contact_records using gin (keys) with (fastupdate = off);

create table enrichment_internal.contact_keys (
  key integer not null,
  source text not null,
  contact_id text not null,
  primary key (key, source, contact_id)
);

create table enrichment_internal.person_keys (
  key integer not null,
  service text not null,
  person_key text not null,
  primary key (key, service, person_key)
);
create index person_keys_by_person on enrichment_internal.person_keys (person_key, service);

-- The digest locks the single row of this table, so that only one writer at a time decides who is who.
create table enrichment_internal.digest_lock (singleton boolean primary key default true check (singleton));
insert into enrichment_internal.digest_lock default values;

-- Locks the digest, after the suppression list: this list is the first lock of every transaction that writes about
-- people.
create function enrichment_internal.lock_digest() returns void language plpgsql as $$
  begin
    perform enrichment_internal.lock_suppressions();
    perform from enrichment_internal.digest_lock for update;
    if not found then raise exception 'the row of digest_lock is missing'; end if;
  end
$$;

-- Queue of the digest: answers to read, and contacts and people with new facts.
create table enrichment_internal.digest_queue (
  entry_id bigint generated always as identity primary key,
  kind text not null check (kind in ('answer', 'contact', 'person')),
  -- Owner of the entry: the attempt of an answer, the source of a contact, or the service of a person.
  owner text not null,
  name text not null default '',
  queued_at timestamptz not null default clock_timestamp(),
  -- Why the entry was quarantined; null for an entry in the queue.
  problem text
);
create index digest_queue_by_owner on enrichment_internal.digest_queue (owner, kind);

create table enrichment.contact_decisions (
  decision_id bigint generated always as identity primary key,
  source text not null,
  contact_id text not null,
  service text not null,
  person_key text not null,
  verdict text not null check (verdict in ('confirmed', 'rejected', 'withdrawn')),
  -- Hash of name and identifiers. The decision holds only for rows with the same hash.
  record_hash text not null,
  reason text,
  decided_by text not null,
  decided_at timestamptz not null default clock_timestamp()
);
comment on table enrichment.contact_decisions is
  'One decision of an operator that a contact is, or is not, a known person; for the same two the newest counts';
comment on column enrichment.contact_decisions.decision_id is
  'Key of the decision; for a contact and a person the greatest counts';
comment on column enrichment.contact_decisions.verdict is 'confirmed, rejected or withdrawn';
comment on column enrichment.contact_decisions.record_hash is
  'Hash of the identifiers and the name of the record: the decision ends when they change';
comment on column enrichment.contact_decisions.reason is 'Reason as text; null if none was given';
comment on column enrichment.contact_decisions.decided_by is 'Who decided';
comment on column enrichment.contact_decisions.decided_at is 'When';
create index contact_decisions_by_contact
  on enrichment.contact_decisions (source, contact_id, service, person_key, decision_id desc);
create index contact_decisions_by_person on enrichment.contact_decisions (person_key, service);

-- The last lookup of each identity key at each service. While a lookup is fresh, no run pays for the person again. The
-- table grows with every person in a call, so keys are hashed and runs are numbered, to keep a row with its index entry
-- at about 120 bytes.
create table enrichment_internal.lookup_runs (
  lookup_run integer generated always as identity primary key,
  run_id text not null unique,
  service text not null
);

create table enrichment_internal.lookup_history (
  asked_at timestamptz not null,
  lookup_run integer not null,
  key_hash uuid not null,
  field_group text not null,
  -- True if the service found the person; null if it returned another person, who does not fit the row. Null counts as
  -- not found. FRESHNESS can differ for people who were not found.
  found boolean,
  primary key (key_hash, field_group)
);

-- Hashes an identity key together with the service, because each service has its own lookups. The function is stable,
-- because PostgreSQL does not inline an immutable function that depends on the encoding.
create function enrichment_internal.key_hash(identity_key text, of_service text) returns uuid
  language sql stable strict parallel safe
  return encode(substr(sha256(convert_to(identity_key || ' at ' || of_service, 'UTF8')), 1, 16), 'hex')::uuid;

-- Returns the number of a run in lookup_history. A new run gets the next number.
create function enrichment_internal.number_lookup_run(of_run text, of_service text) returns integer
  language plpgsql as $$
  declare
    number integer;
  begin
    select lookup_run into number from enrichment_internal.lookup_runs where run_id = of_run;
    if number is null then
      insert into enrichment_internal.lookup_runs as l (run_id, service) values (of_run, of_service)
      on conflict (run_id) do update set service = l.service
      returning lookup_run into number;
    end if;
    return number;
  end
$$;

-- Records a lookup under every key of a row and every key of its person. `learned` contains the keys of people with
-- their rows; a key without a row belongs to a billed person who fits no row. Keys are written in order, so that two
-- writers cannot deadlock. A later lookup is never replaced by an earlier one.
create function enrichment_internal.record_lookup(of_service text, of_run text, of_time timestamptz, answered jsonb,
    learned jsonb, field_groups text[])
  returns void language plpgsql as $$
  declare
    number integer := enrichment_internal.number_lookup_run(of_run, of_service);
  begin
    insert into enrichment_internal.lookup_history as m (key_hash, field_group, found, asked_at, lookup_run)
    select distinct on (k.key_hash, g.field_group) k.key_hash, g.field_group,
      case when a.outcome is distinct from 'identity_mismatch' then coalesce(a.outcome = 'enriched', true) end,
      of_time, number
    from unnest(field_groups) as g (field_group)
    cross join (
      select enrichment_internal.key_hash(key, of_service) as key_hash, r.row_number
      from jsonb_to_recordset(answered) as a (row_number integer, is_lookup boolean)
      cross join lateral (
        select * from enrichment.run_rows where run_id = of_run and row_number = a.row_number offset 0
      ) r
      cross join unnest(r.keys) as key
      where a.is_lookup
      union
      select enrichment_internal.key_hash(l.identity_key, of_service), l.row_number
      from jsonb_to_recordset(learned) as l (identity_key text, row_number integer)
    ) k
    left join jsonb_to_recordset(answered) as a (row_number integer, outcome text) on a.row_number = k.row_number
    order by k.key_hash, g.field_group, a.outcome = 'enriched' desc nulls last
    on conflict (key_hash, field_group) do update
    set found = excluded.found, asked_at = excluded.asked_at, lookup_run = excluded.lookup_run
    where m.asked_at <= excluded.asked_at;
  end
$$;
