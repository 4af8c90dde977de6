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
comment on view enrichment.contact_phones is 'Phones of each contact, with the time, run, call and delivery of each';
comment on column enrichment.contact_phones.status is 'Validity of the number, as the service states it';
comment on column enrichment.contact_phones.is_first is 'Whether enriched_contacts has this number';
comment on column enrichment.contact_phones.recorded_at is
  'When the newest answer or delivery with the number was written';
comment on column enrichment.contact_phones.first_recorded_at is
  'When the first answer or delivery with the number was written';

-- If a contact has no person now, the log is read only for rows that matched the contact to a person.
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
comment on column enrichment.row_results.reason is 'Reason of the outcome, and why the contact lost its person later';
comment on column enrichment.row_results.lost_reason is 'Why the contact lost its person; null if it did not';
comment on column enrichment.row_results.lost_at is 'When the contact lost its person';

-- All contacts of exports, including those without a person.
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
  'How many contacts of the exports have a person, e-mail, phone or title: all, by country, industry, seniority';
comment on column enrichment.coverage_by_segment.segment is 'all, country, organization_industry or seniority';
comment on column enrichment.coverage_by_segment.segment_value is
  'Value of the segment; null: all contacts, or contacts without a value or person';
comment on column enrichment.coverage_by_segment.contacts is 'Contacts of the exports in the segment';
comment on column enrichment.coverage_by_segment.people is 'Contacts with a person';
comment on column enrichment.coverage_by_segment.emails is 'Contacts with an e-mail';
comment on column enrichment.coverage_by_segment.verified_emails is 'Contacts with a verified e-mail';
comment on column enrichment.coverage_by_segment.phones is 'Contacts with a phone';
comment on column enrichment.coverage_by_segment.titles is 'Contacts with a title';
