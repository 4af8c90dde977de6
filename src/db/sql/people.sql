create table enrichment.people (
  service text not null,
  person_key text not null,
  first_name text,
  last_name text,
  email text,
  email_status text,
  phone text,
  title text,
  headline text,
  seniority text,
  departments text[],
  city text,
  state text,
  country text,
  organization_name text,
  organization_domain text,
  organization_industry text,
  organization_employees integer,
  organization_id text,
  linkedin_url text,
  profile_url text,
  person_id text,
  name text,
  subdepartments text[],
  functions text[],
  photo_url text,
  microblog_url text,
  codehost_url text,
  socialnet_url text,
  organization_key text,
  emails jsonb not null,
  phones jsonb not null,
  employment jsonb not null,
  said_by jsonb not null,
  valid_from jsonb not null,
  enriched_at timestamptz not null,
  run_id text not null,
  attempt_id text not null,
  primary key (person_key, service)
);
comment on table enrichment.people is 'What is known about each person now';
comment on column enrichment.people.emails is 'All addresses; see person_emails';
comment on column enrichment.people.phones is 'All phones, the best first; see person_phones';
comment on column enrichment.people.employment is 'All jobs; see employment_history';
comment on column enrichment.people.said_by is 'The observation of each group of fields that has a value';
comment on column enrichment.people.valid_from is 'When each group of fields got its value, as an object of times';
create index people_by_organization on enrichment.people (organization_domain)
  where organization_domain is not null;

-- A closed interval for each earlier value of a group of fields. `people` has the current value and its source.
create table enrichment_internal.person_history (
  service text not null,
  person_key text not null,
  field_group text not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  value jsonb not null,
  observation_id bigint not null,
  primary key (person_key, service, field_group, valid_from)
);

create table enrichment.contact_matches (
  match_id bigint generated always as identity primary key,
  source text not null,
  contact_id text not null,
  service text not null,
  person_key text not null,
  evidence text not null,
  -- Whether a call for the contact found the person.
  asked boolean not null,
  run_id text not null,
  row_number integer not null,
  attempt_id text,
  valid_from timestamptz not null default clock_timestamp(),
  -- Null: the contact is this person.
  valid_to timestamptz,
  ended_reason text
);
comment on table enrichment.contact_matches is 'Which person a contact is or was, and since when';
comment on column enrichment.contact_matches.match_id is 'Key of the match';
comment on column enrichment.contact_matches.valid_from is 'When the contact got the person';
comment on column enrichment.contact_matches.valid_to is 'When the contact lost the person; null: it has the person';
comment on column enrichment.contact_matches.ended_reason is 'Why the contact lost the person';
alter table enrichment.contact_matches alter column run_id set statistics 0;
create unique index contact_matches_open on enrichment.contact_matches (source, contact_id) where valid_to is null;
create index contact_matches_by_contact on enrichment.contact_matches (source, contact_id, match_id);
create index contact_matches_by_person on enrichment.contact_matches (person_key, service);
create index contact_matches_by_run on enrichment.contact_matches (run_id, row_number);

create view enrichment.contacts as
  select source, contact_id, service, person_key, match_id, evidence, asked, run_id, row_number
  from enrichment.contact_matches
  where valid_to is null;
comment on view enrichment.contacts is 'Which person each CRM contact is now';

create table enrichment.changes (
  change_id bigint generated always as identity primary key,
  operation text not null check (operation in ('upsert', 'delete')),
  source text not null,
  contact_id text not null,
  field_groups text[] not null,
  changed_at timestamptz not null default clock_timestamp()
);
comment on table enrichment.changes is 'Changed and deleted contacts, in order';
comment on column enrichment.changes.change_id is 'The cursor';
comment on column enrichment.changes.operation is 'upsert or delete';
comment on column enrichment.changes.field_groups is 'Groups of fields that changed';
create index changes_by_contact on enrichment.changes (source, contact_id);
create index changes_by_age on enrichment.changes using brin (changed_at);

create table enrichment.changes_pruned (
  singleton boolean primary key default true check (singleton),
  pruned_change_id bigint not null
);
comment on table enrichment.changes_pruned is 'The newest cursor whose change retention has dropped';
comment on column enrichment.changes_pruned.singleton is 'Always true: the table has at most one row';
comment on column enrichment.changes_pruned.pruned_change_id is 'The newest dropped cursor';

create view enrichment.enriched_contacts as
  select c.source, c.contact_id,
    p.first_name, p.last_name, p.email, p.email_status, p.phone, p.title, p.headline, p.seniority, p.departments,
    p.city, p.state, p.country, p.organization_name, p.organization_domain, p.organization_industry,
    p.organization_employees, p.organization_id, p.linkedin_url, p.profile_url, p.person_id,
    p.enriched_at, c.run_id, p.attempt_id, c.row_number,
    p.service, p.person_key
  from enrichment.contacts c
  join enrichment.people p on p.service = c.service and p.person_key = c.person_key;
comment on view enrichment.enriched_contacts is 'What is known about each CRM contact now';
comment on column enrichment.enriched_contacts.run_id is
  'Newest run that gave the contact its person; field_provenance has the run of each value';
comment on column enrichment.enriched_contacts.row_number is
  'Record of the contact in the file of run_id, from 1, header excluded';
comment on column enrichment.enriched_contacts.enriched_at is
  'When the service was asked for the newest answer about the person, by any run';
comment on column enrichment.enriched_contacts.attempt_id is 'Call of the newest answer about the person, by any run';

create view enrichment.person_emails as
  select p.service, p.person_key, p.person_id, e.email, e.email_status, e.kind, e.position, e.observation_id
  from enrichment.people p
  cross join lateral jsonb_to_recordset(p.emails)
    as e (email text, email_status text, kind text, position integer, observation_id bigint);
comment on view enrichment.person_emails is 'All addresses of each person';
comment on column enrichment.person_emails.email is 'An address';
comment on column enrichment.person_emails.kind is 'profile, personal, saved_contact or waterfall';
comment on column enrichment.person_emails.position is
  'Index in the list of the answer or delivery, from 0; lists of two answers have the same positions';

create view enrichment.person_phones as
  select p.service, p.person_key, p.person_id, n.number, n.e164, n.raw_number, n.type, n.status, n.dnc_status,
    n.confidence, n.position, n.origin, n.asked_at, o.run_id, o.attempt_id, o.delivery_id, n.observation_id, n.rank
  from enrichment.people p
  cross join lateral rows from (
    jsonb_to_recordset(p.phones)
      as (number text, e164 text, raw_number text, type text, status text, dnc_status text, confidence text,
        position integer, origin text, asked_at timestamptz, observation_id bigint)
  ) with ordinality as n (number, e164, raw_number, type, status, dnc_status, confidence, position, origin,
    asked_at, observation_id, rank)
  join enrichment_internal.observation_log o on o.observation_id = n.observation_id;
comment on view enrichment.person_phones is 'All phones of each person, with their deliveries';
comment on column enrichment.person_phones.status is 'Validity of the number, as the service states it';
comment on column enrichment.person_phones.position is
  'Index in the list of the answer or delivery, from 0; lists of two deliveries have the same positions';
comment on column enrichment.person_phones.rank is
  'Place among the numbers of the person, from 1: the number to call first is first';

create view enrichment.employment_history as
  select p.service, p.person_key, p.person_id, e.position, e.title, e.organization_name, e.organization_id,
    e.started_on, e.ended_on, e.current
  from enrichment.people p
  cross join lateral rows from (
    jsonb_to_recordset(p.employment)
      as (title text, organization_name text, organization_id text, started_on date, ended_on date, current boolean)
  ) with ordinality as e (title, organization_name, organization_id, started_on, ended_on, current, position);
comment on view enrichment.employment_history is 'All jobs of each person';
comment on column enrichment.employment_history.position is 'Place in the list of the service, from 1';
comment on column enrichment.employment_history.started_on is 'First day, where the service gives a date';
comment on column enrichment.employment_history.ended_on is 'Last day, where the service gives a date';
comment on column enrichment.employment_history.current is 'Whether the job is current, as the service states it';
