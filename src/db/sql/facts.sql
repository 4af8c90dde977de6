-- What answers say about companies, under the names of the interface document; once for all people with the same facts.
create table enrichment_internal.organization_facts (
  facts_hash bytea primary key,
  facts jsonb not null
);

create index organization_facts_by_domain on enrichment_internal.organization_facts ((facts ->> 'domain'))
  where facts ->> 'domain' is not null;

-- Observations, with the hash of the employer in place of what is said about the employer.
create table enrichment_internal.observation_log (
  observation_id bigint generated always as identity primary key,
  service text not null,
  -- person: with the id of the service; without an id row: with the row that got the person.
  person_key text not null,
  person_id text,
  kind text not null check (kind in ('answer', 'phones', 'waterfall')),
  asked_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  run_id text not null,
  attempt_id text not null,
  delivery_id text,
  -- id:…, domain:… or name:….
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
  where organization_key is not null;
create index observations_by_run on enrichment_internal.observation_log (run_id, observation_id);
-- fastupdate off: each lookup would read the whole pending list.
create index observations_by_key on enrichment_internal.observation_log using gin (identity_keys)
  with (fastupdate = off);

-- A subquery, so that a query that does not select the employer does not read it.
create view enrichment.observations as
  select o.*,
    (
      select f.facts
      from enrichment_internal.organization_facts f
      where f.facts_hash = o.organization_facts
    ) as organization
  from enrichment_internal.observation_log o;
comment on view enrichment.observations is 'Facts about one person in one answer, delivery or poll';
comment on column enrichment.observations.observation_id is 'Key of the entry';
comment on column enrichment.observations.kind is 'answer, phones or waterfall';
comment on column enrichment.observations.organization is 'The employer under the names of the interface document';

-- The cells of a contact as of a run, only where they changed.
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
  -- The record is suppressed or contested: the contact has no person.
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

-- The digest locks this row: one writer at a time decides who is who.
create table enrichment_internal.digest_lock (singleton boolean primary key default true check (singleton));
insert into enrichment_internal.digest_lock default values;

-- What the digest has not read yet: answers, and the contacts and people whose facts have changed.
create table enrichment_internal.digest_queue (
  entry_id bigint generated always as identity primary key,
  kind text not null check (kind in ('answer', 'contact', 'person')),
  -- The attempt; the source of the contact; the service of the person.
  owner text not null,
  name text not null default '',
  queued_at timestamptz not null default clock_timestamp(),
  -- Why the entry is set aside.
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
  -- The decision holds for rows with these identifiers and this name.
  record_hash text not null,
  reason text,
  decided_by text not null,
  decided_at timestamptz not null default clock_timestamp()
);
comment on table enrichment.contact_decisions is
  'Decisions of people that a contact is, or is not, a known person; of a contact and a person the newest counts';
comment on column enrichment.contact_decisions.decision_id is
  'Key of the decision; of a contact and a person the greatest counts';
comment on column enrichment.contact_decisions.verdict is 'confirmed, rejected or withdrawn';
comment on column enrichment.contact_decisions.record_hash is
  'Hash of the identifiers and the name of the record: the decision ends when they change';
comment on column enrichment.contact_decisions.reason is 'Why, as text; null: no reason was given';
comment on column enrichment.contact_decisions.decided_by is 'Who decided';
comment on column enrichment.contact_decisions.decided_at is 'When';
create index contact_decisions_by_contact
  on enrichment.contact_decisions (source, contact_id, service, person_key, decision_id desc);
create index contact_decisions_by_person on enrichment.contact_decisions (person_key, service);
