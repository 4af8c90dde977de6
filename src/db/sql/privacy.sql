create table enrichment.suppression_entries (
  entry_id bytea primary key,
  kind text not null check (kind in ('email', 'profile', 'person', 'hash', 'name', 'domain', 'record')),
  domain text check ((domain is not null) = (kind = 'domain')),
  reason text,
  added_by text not null,
  added_at timestamptz not null default now()
);
comment on table enrichment.suppression_entries is 'Hashes of people and domains that are never looked up';
comment on column enrichment.suppression_entries.entry_id is 'Hash of the identity';
comment on column enrichment.suppression_entries.kind is 'email, profile, person, hash, name, domain or record';
comment on column enrichment.suppression_entries.domain is 'The domain, if the entry suppresses a whole domain';
comment on column enrichment.suppression_entries.added_by is 'Who added the entry';
comment on column enrichment.suppression_entries.added_at is 'When the entry was added';
create index suppressed_domains on enrichment.suppression_entries (domain) where kind = 'domain';

create table enrichment_internal.suppressed_keys (
  key_hash bytea not null,
  entry_id bytea not null references enrichment.suppression_entries on delete cascade,
  primary key (key_hash, entry_id)
);
create index suppressed_keys_by_entry on enrichment_internal.suppressed_keys (entry_id);

-- Returns the hashes under which the suppression list has a key: of an e-mail, of a shared mailbox without the name,
-- and of the hashed forms of e-mails that exports contain. The list has only hashes, so that it does not reveal the
-- suppressed people.
create function enrichment_internal.suppression_hashes(identity_key text) returns setof bytea
  language sql immutable strict parallel safe rows 4 as $$
  select sha256(convert_to(form, 'UTF8')) from unnest(
    case when starts_with(identity_key, 'email:') then array[
      identity_key,
      split_part(identity_key, '|', 1),
      'hash:' || md5(split_part(substr(identity_key, 7), '|', 1)),
      'hash:' || encode(sha256(convert_to(split_part(substr(identity_key, 7), '|', 1), 'UTF8')), 'hex')]
    else array[identity_key] end) as form
$$;

create table enrichment.erasures (
  erasure_id text primary key,
  erased_at timestamptz not null default clock_timestamp(),
  erased_by text not null,
  reason text,
  removed jsonb not null
);
comment on table enrichment.erasures is 'One erasure: when, by whom and how much, without the person';
comment on column enrichment.erasures.erasure_id is 'Key of the erasure';
comment on column enrichment.erasures.erased_at is 'When the person was erased';
comment on column enrichment.erasures.erased_by is 'Who erased the person';
comment on column enrichment.erasures.removed is 'Number of removed entries, by kind';

create table enrichment_internal.analyst_roles (role_name text primary key);

-- The time of the first observation or call of each person counts, whichever is earlier, because RETENTION removes
-- observations but keeps calls.
create view enrichment.people_to_inform as
  select p.service, p.person_key, p.person_id, p.first_name, p.last_name, p.email, p.country,
    least(said.first_at, called.first_at) as first_obtained_at,
    array(
      select c.source || '/' || c.contact_id
      from enrichment.contacts c
      where c.service = p.service and c.person_key = p.person_key
      order by 1) as contacts
  from enrichment.people p
  cross join lateral (
    select min(o.recorded_at) as first_at
    from enrichment_internal.observation_log o
    where o.service = p.service and o.person_key = p.person_key
  ) said
  cross join lateral (
    select min(a.answered_at) as first_at
    from enrichment.attempt_people asked
    join enrichment.attempts a on a.attempt_id = asked.attempt_id
    where asked.person_id = p.person_id
  ) called
  where not exists (
      select
      from (
        select unnest(o.identity_keys) as identity_key
        from enrichment_internal.observation_log o
        where o.service = p.service and o.person_key = p.person_key
        union
        select unnest(r.keys)
        from enrichment.contacts c
        join enrichment.run_rows r on r.run_id = c.run_id and r.row_number = c.row_number
        where c.service = p.service and c.person_key = p.person_key
      ) known
      cross join lateral enrichment_internal.suppression_hashes(known.identity_key) as form (key_hash)
      join enrichment_internal.suppressed_keys s on s.key_hash = form.key_hash)
    and not exists (
      select
      from enrichment.suppression_entries e
      cross join unnest(array[split_part(p.email, '@', 2), p.organization_domain]) as named (domain)
      where e.kind = 'domain' and (named.domain = e.domain or named.domain like '%.' || e.domain));
comment on view enrichment.people_to_inform is
  'People whose data came from a service, and since when, without people on the suppression list (GDPR, Article 14)';
comment on column enrichment.people_to_inform.first_obtained_at is
  'When the first answer or delivery with the person was recorded';
comment on column enrichment.people_to_inform.contacts is 'Source and record id of each contact that is the person';
