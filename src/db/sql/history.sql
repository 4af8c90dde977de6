-- The current values of people, by group of fields of `enriched_contacts`.
create view enrichment_internal.current_values as
  select p.service, p.person_key, s.field_group,
    case s.field_group
      when 'first_name' then jsonb_build_object('first_name', p.first_name, 'last_name', p.last_name)
      when 'email' then jsonb_build_object('email', p.email, 'email_status', p.email_status)
      when 'phone' then jsonb_build_object('phone', p.phone)
      when 'title' then jsonb_build_object('title', p.title)
      when 'headline' then jsonb_build_object('headline', p.headline)
      when 'seniority' then jsonb_build_object('seniority', p.seniority)
      when 'departments' then jsonb_build_object('departments', p.departments)
      when 'city' then jsonb_build_object('city', p.city, 'state', p.state, 'country', p.country)
      when 'organization_name' then jsonb_build_object(
        'organization_name', p.organization_name,
        'organization_domain', p.organization_domain,
        'organization_industry', p.organization_industry,
        'organization_employees', p.organization_employees,
        'organization_id', p.organization_id)
      when 'linkedin_url' then jsonb_build_object('linkedin_url', p.linkedin_url, 'profile_url', p.profile_url)
      when 'person_id' then jsonb_build_object('person_id', p.person_id)
    end as value,
    s.since::timestamptz as valid_from,
    (p.said_by ->> s.field_group)::bigint as observation_id
  from enrichment.people p
  cross join lateral jsonb_each_text(p.valid_from) as s (field_group, since);

create view enrichment.field_provenance as
  select c.source, c.contact_id, v.field_group, v.value, o.asked_at as observed_at, o.run_id, o.attempt_id,
    o.delivery_id
  from enrichment.contacts c
  join enrichment_internal.current_values v on v.service = c.service and v.person_key = c.person_key
  join enrichment_internal.observation_log o on o.observation_id = v.observation_id;
comment on view enrichment.field_provenance is
  'The call, delivery and run of each current value of a contact, by group of fields';

-- The values that a contact had while it was a person: intervals of the person within those of the match.
create view enrichment.contact_history as
  select m.source, m.contact_id, h.field_group, h.value, greatest(h.valid_from, m.valid_from) as valid_from,
    least(h.valid_to, m.valid_to) as valid_to, o.run_id, o.attempt_id, o.delivery_id
  from enrichment.contact_matches m
  cross join lateral (
    select field_group, value, valid_from, valid_to, observation_id
    from enrichment_internal.person_history
    where service = m.service and person_key = m.person_key
    union all
    select field_group, value, valid_from, null, observation_id
    from enrichment_internal.current_values
    where service = m.service and person_key = m.person_key
  ) h
  left join enrichment_internal.observation_log o on o.observation_id = h.observation_id
  where h.valid_from < coalesce(m.valid_to, 'infinity') and coalesce(h.valid_to, 'infinity') > m.valid_from;
comment on view enrichment.contact_history is
  'Values of each group of fields of a contact as each answer said them; the value without an end is current';
comment on column enrichment.contact_history.valid_to is
  'When a later answer said the value again, or it changed; null: the value is current';

-- Consecutive observations of one employer are one stay. The first observation of a later stay that has a second sign
-- of the move (a start after the former stay was last seen, or an address at the new employer that the person did not
-- have) detects it.
create view enrichment.job_changes as
  with said as (
    select o.service, o.person_key, o.observation_id, o.asked_at, o.recorded_at, o.run_id,
      o.facts #>> '{title,title}' as title,
      o.facts #>> '{organization_name,organization_name}' as organization,
      o.facts #>> '{organization_name,organization_id}' as organization_id,
      o.facts #>> '{organization_name,organization_domain}' as domain,
      nullif(split_part(coalesce(o.facts #>> '{email,email}', ''), '@', 2), '') as email_domain,
      job.started_at
    from enrichment_internal.observation_log o
    -- People have several current jobs. A job at another id is the job at the employer only if the name says so.
    left join lateral (
      select e.started_on as started_at
      from jsonb_to_recordset(
        case jsonb_typeof(o.facts -> 'employment') when 'array' then o.facts -> 'employment' else '[]' end
      ) as e (started_on date, current boolean, organization_id text, organization_name text)
      cross join lateral (
        select e.organization_id = o.facts #>> '{organization_name,organization_id}' as same_id,
          lower(e.organization_name) = lower(o.facts #>> '{organization_name,organization_name}') as same_name
      ) employer
      where e.current and (same_id is not false or same_name)
      order by coalesce(same_id or same_name, false) desc, e.started_on desc nulls last
      limit 1
    ) job on true
    -- An id alone names no employer: the same company can have another id in the next answer.
    where o.facts -> 'organization_name' ?| '{organization_name,organization_domain}'
      and o.kind = 'answer'
  ), compared as (
    select *,
      lag(observation_id) over person is not null and not coalesce(
        organization_id = lag(organization_id) over person
          or domain = lag(domain) over person
          or (domain is null or lag(domain) over person is null)
            and lower(organization) = lower(lag(organization) over person),
        false) as moved,
      lag(title) over person as from_title,
      lag(organization) over person as from_organization,
      lag(domain) over person as from_domain,
      lag(asked_at) over person as last_seen_at,
      lag(started_at) over person as from_started_at,
      array_remove(array_agg(email_domain) over (person rows between unbounded preceding and 1 preceding), null)
        as former_email_domains
    from said
    window person as (partition by service, person_key order by asked_at, observation_id)
  ), stays as (
    select *, count(*) filter (where moved) over person as stay
    from compared
    window person as (partition by service, person_key order by asked_at, observation_id)
  ), moves as (
    select service, person_key, stay, observation_id, asked_at, recorded_at, run_id, title, organization,
      domain, email_domain, started_at, first_value(from_title) over this as from_title,
      first_value(from_organization) over this as from_organization,
      first_value(from_domain) over this as from_domain,
      first_value(last_seen_at) over this as last_seen_at,
      first_value(from_started_at) over this as from_started_at,
      first_value(former_email_domains) over this as former_email_domains
    from stays
    window this as (partition by service, person_key, stay order by asked_at, observation_id)
  )
  select distinct on (service, person_key, stay)
    service, person_key,
    -- Every observation under a key has its id.
    (select o.person_id from enrichment_internal.observation_log o
      where o.service = moves.service and o.person_key = moves.person_key
      limit 1) as person_id,
    recorded_at as detected_at,
    from_title, from_organization, from_domain,
    title as to_title, organization as to_organization, domain as to_domain,
    started_at,
    case when started_at > (last_seen_at at time zone 'UTC')::date then 'start_date' else 'email' end as evidence,
    run_id, observation_id
  from moves
  where stay > 0
    and (started_at > (last_seen_at at time zone 'UTC')::date
      -- Not a rebrand, which gives the same job another name, domain and address.
      or coalesce(started_at <> from_started_at, true)
        and (email_domain = domain or email_domain like '%.' || domain)
        and email_domain <> all (former_email_domains))
  order by service, person_key, stay, asked_at, observation_id;
comment on view enrichment.job_changes is
  'People who moved to another employer, with the second sign that shows it; one row for each move';
comment on column enrichment.job_changes.started_at is 'First day of the new job, where the service gives a date';
comment on column enrichment.job_changes.evidence is 'Second sign of the move: start_date or email';
