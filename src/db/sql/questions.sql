create view enrichment.job_changes_of_last_run as
  select people.first_name, people.last_name,
    array(
      select c.source || '/' || c.contact_id
      from enrichment.contacts c
      where c.service = j.service and c.person_key = j.person_key
      order by c.source, c.contact_id
    ) as contact_ids,
    j.*
  from (
    select r.run_id
    from enrichment.runs r
    where r.finished_at is not null and r.undone_at is null and r.status <> 'planned'
    order by r.created_at desc
    limit 1
  ) last
  cross join lateral (
    select distinct o.service, o.person_key from enrichment_internal.observation_log o where o.run_id = last.run_id
  ) p
  -- `offset 0` keeps the planner from computing the changes of all people.
  cross join lateral (
    select * from enrichment.job_changes c where c.service = p.service and c.person_key = p.person_key offset 0
  ) j
  left join enrichment.people on people.service = j.service and people.person_key = j.person_key
  where j.run_id = last.run_id;
comment on view enrichment.job_changes_of_last_run is
  'People whose move to another employer the newest finished run detected';
comment on column enrichment.job_changes_of_last_run.started_at is
  'First day of the new job, where the service gives a date';
comment on column enrichment.job_changes_of_last_run.evidence is 'Second sign of the move: start_date or email';
comment on column enrichment.job_changes_of_last_run.contact_ids is
  'Contacts that are the person, as source/contact_id';

create view enrichment.contact_phones as
  select c.source, c.contact_id, n.number, n.e164, n.type, n.status, n.dnc_status, n.number = p.phone as is_first,
    n.origin, n.asked_at, o.recorded_at, o.run_id, o.attempt_id, o.delivery_id,
    (
      select min(f.recorded_at)
      from enrichment_internal.observation_log f
      where f.person_key = n.person_key and f.service = n.service
        and f.facts @> jsonb_build_object('phones', jsonb_build_array(jsonb_build_object('number', n.number)))
    ) as first_recorded_at
  from enrichment.contacts c
  join enrichment.people p on p.service = c.service and p.person_key = c.person_key
  join enrichment.person_phones n on n.service = c.service and n.person_key = c.person_key
  join enrichment_internal.observation_log o on o.observation_id = n.observation_id;
comment on view enrichment.contact_phones is
  'Phones of each contact: when asked for, when received, and the run, call and delivery of each';
comment on column enrichment.contact_phones.status is 'Validity of the number, as the service states it';
comment on column enrichment.contact_phones.is_first is 'Whether enriched_contacts has this number';
comment on column enrichment.contact_phones.recorded_at is
  'When the newest answer or delivery with the number was written';
comment on column enrichment.contact_phones.first_recorded_at is
  'When the first answer or delivery with the number was written';

create view enrichment.calls_without_data as
  select a.attempt_id, a.run_id, a.status, a.people, a.credits_settled, a.credits_answered, a.credits_reserved,
    a.reason, a.admitted_at
  from enrichment.attempts a
  where (coalesce(a.credits_settled, a.credits_answered) > 0 or a.status = 'unknown')
    and not exists (
      select from enrichment.attempt_people p where p.attempt_id = a.attempt_id and p.outcome = 'enriched');
comment on view enrichment.calls_without_data is 'Calls that were or may have been billed, and enriched no row';
comment on column enrichment.calls_without_data.credits_settled is 'What the call cost; null: not known yet';
comment on column enrichment.calls_without_data.credits_answered is 'What its answer stated as the cost';

-- Reads the log only for rows that gave their contact a person, and whose contact has no person now.
create view enrichment.row_results as
  select r.run_id, r.row_number, u.source, r.contact_id, r.outcome,
    case when lost.reason is null then r.reason
      else concat_ws('; ', r.reason, 'the contact lost its person: ' || lost.reason) end as reason,
    r.filled, lost.reason as lost_reason, lost.decided_at as lost_at
  from enrichment.run_rows r
  join enrichment.runs u on u.run_id = r.run_id
  left join enrichment.contacts c on c.source = u.source and c.contact_id = r.contact_id
  left join lateral (
    select m.ended_reason as reason, m.valid_to as decided_at
    from enrichment.contact_matches m
    where c.contact_id is null
      and (r.outcome = 'enriched' or r.filled)
      and u.undone_at is null
      and m.source = u.source
      and m.contact_id = r.contact_id
    order by m.match_id desc
    limit 1
  ) lost on true;
comment on view enrichment.row_results is
  'Rows of runs with their outcome, and why the contact of a row has lost its person';
comment on column enrichment.row_results.reason is
  'Reason of `run_rows`, and why the contact lost the person that the row gave it';
comment on column enrichment.row_results.lost_reason is 'Why the contact lost its person; null: it did not';
comment on column enrichment.row_results.lost_at is 'When the contact lost its person';

create view enrichment.changes_of_last_day as
  select c.source, c.contact_id,
    (array_agg(c.operation order by c.change_id desc))[1] as operation,
    coalesce(array_agg(distinct g.field_group) filter (where g.field_group is not null), '{}') as field_groups,
    max(c.changed_at) as changed_at
  from enrichment.changes c
  left join lateral unnest(c.field_groups) as g (field_group) on true
  where c.changed_at > now() - interval '1 day'
  group by c.source, c.contact_id;
comment on view enrichment.changes_of_last_day is
  'Contacts that changed within 24 hours: the last operation, and all groups of fields that changed';
comment on column enrichment.changes_of_last_day.operation is 'The last operation: upsert or delete';
comment on column enrichment.changes_of_last_day.field_groups is
  'All groups of fields that changed; empty: the run or row changed';
comment on column enrichment.changes_of_last_day.changed_at is 'When the contact changed last';

create view enrichment.value_changes_of_last_day as
  select c.source, c.contact_id, h.field_group, h.old_value, h.value as new_value, h.valid_from as changed_at,
    h.run_id
  from enrichment.changes_of_last_day c
  cross join lateral (
    select *, lag(value) over (partition by field_group order by valid_from) as old_value
    from enrichment.contact_history where source = c.source and contact_id = c.contact_id
  ) h
  where h.valid_from > now() - interval '1 day' and h.value is distinct from h.old_value;
comment on view enrichment.value_changes_of_last_day is
  'Values of contacts that changed within 24 hours, with the value before';
comment on column enrichment.value_changes_of_last_day.old_value is 'Value before; null: there was none';
comment on column enrichment.value_changes_of_last_day.new_value is 'Value now';
comment on column enrichment.value_changes_of_last_day.changed_at is 'When the new value was recorded';

-- All contacts of exports, also those without a person.
create view enrichment.coverage_by_segment as
  select a.source, s.segment, s.segment_value, count(*) as contacts, count(c.contact_id) as people,
    count(c.email) as emails, count(*) filter (where lower(c.email_status) = 'verified') as verified_emails,
    count(c.phone) as phones, count(c.title) as titles
  from (
    select r.source, r.contact_id
    from enrichment_internal.contact_records r
    where not exists (select from enrichment.runs u where u.run_id = r.run_id and u.undone_at is not null)
    union
    select source, contact_id from enrichment.contacts
  ) a
  left join enrichment.enriched_contacts c on c.source = a.source and c.contact_id = a.contact_id
  cross join lateral (
    values ('all', null), ('country', c.country), ('organization_industry', c.organization_industry),
      ('seniority', c.seniority)
  ) as s (segment, segment_value)
  group by a.source, s.segment, s.segment_value;
comment on view enrichment.coverage_by_segment is
  'How many contacts of the exports have a person, address, phone or title: all, by country, industry, seniority';
comment on column enrichment.coverage_by_segment.segment is 'all, country, organization_industry or seniority';
comment on column enrichment.coverage_by_segment.segment_value is
  'Value of the segment; null: all contacts, or contacts without a value or person';
comment on column enrichment.coverage_by_segment.contacts is 'Contacts of the exports in the segment';
comment on column enrichment.coverage_by_segment.people is 'Those with a person';
comment on column enrichment.coverage_by_segment.emails is 'Those with an address';
comment on column enrichment.coverage_by_segment.verified_emails is 'Those with a verified address';
comment on column enrichment.coverage_by_segment.phones is 'Those with a phone';
comment on column enrichment.coverage_by_segment.titles is 'Those with a title';

create function enrichment.coverage_by_column(of_source text, column_name text)
  returns table (segment_value text, contacts bigint, people bigint, emails bigint, verified_emails bigint,
    phones bigint, titles bigint) language sql stable as $$
    select n.segment_value, count(*), count(c.contact_id), count(c.email),
      count(*) filter (where lower(c.email_status) = 'verified'), count(c.phone), count(c.title)
    from (
      select distinct on (r.contact_id) r.contact_id,
        r.raw::json ->> (array_position(u.header, column_name) - 1) as segment_value
      from enrichment.runs u
      join enrichment.run_rows r using (run_id)
      where u.source = of_source and u.undone_at is null and column_name = any(u.header) and r.raw is not null
        and r.contact_id is not null
      order by r.contact_id, u.as_of desc, r.row_number
    ) n
    left join enrichment.enriched_contacts c on c.source = of_source and c.contact_id = n.contact_id
    group by n.segment_value
$$;
comment on function enrichment.coverage_by_column(text, text) is
  'How many contacts of a source have an address, phone or title, by the cells of a column of its newest exports';

create function enrichment.contact_as_of(of_source text, of_contact text, moment timestamptz)
  returns setof enrichment.enriched_contacts language sql stable as $$
    select of_source, of_contact, h.groups #>> '{first_name,first_name}', h.groups #>> '{first_name,last_name}',
      h.groups #>> '{email,email}', h.groups #>> '{email,email_status}', h.groups #>> '{phone,phone}',
      h.groups #>> '{title,title}', h.groups #>> '{headline,headline}', h.groups #>> '{seniority,seniority}',
      case when jsonb_typeof(h.groups #> '{departments,departments}') = 'array'
        then (select array_agg(each) from jsonb_array_elements_text(h.groups #> '{departments,departments}') as each)
      end,
      h.groups #>> '{city,city}', h.groups #>> '{city,state}', h.groups #>> '{city,country}',
      h.groups #>> '{organization_name,organization_name}', h.groups #>> '{organization_name,organization_domain}',
      h.groups #>> '{organization_name,organization_industry}',
      (h.groups #>> '{organization_name,organization_employees}')::integer,
      h.groups #>> '{organization_name,organization_id}', h.groups #>> '{linkedin_url,linkedin_url}',
      h.groups #>> '{linkedin_url,profile_url}', h.groups #>> '{person_id,person_id}',
      newest.asked_at, m.run_id, newest.attempt_id, m.row_number, m.service, m.person_key
    from enrichment.contact_matches m
    cross join lateral (
      select jsonb_object_agg(field_group, value) as groups
      from enrichment.contact_history
      where source = of_source and contact_id = of_contact
        and valid_from <= moment and (valid_to is null or valid_to > moment)
    ) h
    left join lateral (
      select asked_at, attempt_id
      from enrichment.observations
      where service = m.service and person_key = m.person_key and recorded_at <= moment
      order by kind <> 'answer', asked_at desc, observation_id desc
      limit 1
    ) newest on true
    where m.source = of_source and m.contact_id = of_contact
      and m.valid_from <= moment and (m.valid_to is null or m.valid_to > moment)
$$;
comment on function enrichment.contact_as_of(text, text, timestamptz) is
  'A contact as enriched_contacts had it at a time; no row: enriched_contacts did not have it';

create view enrichment.duplicate_contacts as
  select c.service, p.person_id, p.first_name, p.last_name, count(*) as contacts,
    array_agg(c.source || '/' || c.contact_id order by c.source, c.contact_id) as contact_ids
  from enrichment.contacts c
  join enrichment.people p on p.service = c.service and p.person_key = c.person_key
  group by c.service, c.person_key, p.person_id, p.first_name, p.last_name
  having count(*) > 1;
comment on view enrichment.duplicate_contacts is 'People with more than one CRM contact';
comment on column enrichment.duplicate_contacts.contacts is 'Number of contacts';
comment on column enrichment.duplicate_contacts.contact_ids is 'Contacts as source/contact_id';
