-- Counts and costs of a run, as in `enrich report`. The views use lateral joins, so that a query with `where run_id =
-- …` reads only one run.

create view enrichment.run_outcomes as
  select r.run_id, o.outcome, o.rows
  from enrichment.runs r
  cross join lateral (
    -- Retention has removed rows of the run and kept their number by outcome.
    select k.key as outcome, k.value::integer as rows from jsonb_each_text(r.outcomes) as k
    union all
    select coalesce(outcome, 'open'), count(*)::integer
    from enrichment.run_rows
    where run_id = r.run_id and r.outcomes is null
    group by 1
  ) o;
comment on view enrichment.run_outcomes is 'Number of rows of each run, by outcome';
comment on column enrichment.run_outcomes.outcome is 'Result of the rows; open: none yet';
comment on column enrichment.run_outcomes.rows is 'Rows with this outcome';

-- Splits the settled credits of a call into parts that always add up. First comes the price of the answer, then the
-- price of each kind of deliveries (the highest of those with the same subject). The rest is what the operator decided.
create view enrichment.run_credits as
  select r.run_id, c.*
  from enrichment.runs r
  cross join lateral (
    with calls as (
      select attempt_id, status, credits_reserved as reserved, settled, records, settled - records as rest
      from enrichment.attempts
      cross join lateral (select coalesce(credits_settled, 0) as settled) s
      cross join lateral (select least(settled, coalesce(credits_answered, 0)) as records) a
      where run_id = r.run_id
    ), subjects as (
      select attempt_id, split_part(subject, ':', 1) as kind, coalesce(max(credits), 0) as credits
      from enrichment.webhook_deliveries
      where run_id = r.run_id and subject is not null and status = 'applied'
      group by attempt_id, subject
    ), billed as (
      select attempt_id, kind, sum(credits) as credits, sum(sum(credits)) over in_order as until_kind
      from subjects
      group by attempt_id, kind
      window in_order as (
        partition by attempt_id order by array_position(array['phones', 'waterfall'], kind))
    ), delivered as (
      -- The share of this kind of deliveries in the credits that earlier kinds have left.
      select kind, least(rest, until_kind) - least(rest, until_kind - credits) as credits
      from billed
      join calls using (attempt_id)
    )
    select coalesce(sum(settled), 0) as settled, coalesce(sum(records), 0) as records,
      (select coalesce(sum(credits), 0) from delivered where kind = 'phones') as phones,
      (select coalesce(sum(credits), 0) from delivered where kind = 'waterfall') as waterfall,
      coalesce(sum(rest), 0) - (select coalesce(sum(credits), 0) from delivered) as decided,
      coalesce(sum(reserved) filter (where status in ('admitted', 'awaiting', 'unknown')), 0) as held,
      coalesce(sum(reserved) filter (where status = 'admitted'), 0) as in_flight,
      coalesce(sum(reserved) filter (where status = 'awaiting'), 0) as awaiting,
      coalesce(sum(reserved) filter (where status = 'unknown'), 0) as unknown
    from calls
  ) c;
comment on view enrichment.run_credits is
  'Credits of each run: settled credits by purpose, and reserved credits by reason';
comment on column enrichment.run_credits.settled is 'Paid credits: the sum of records, phones, waterfall and decided';
comment on column enrichment.run_credits.records is 'Billed with the answers';
comment on column enrichment.run_credits.phones is 'Billed with deliveries of phones';
comment on column enrichment.run_credits.waterfall is 'Billed with deliveries of waterfalls';
comment on column enrichment.run_credits.decided is 'Decided by the operator without a bill';
comment on column enrichment.run_credits.held is 'Reserved credits: the sum of in_flight, awaiting and unknown';
comment on column enrichment.run_credits.in_flight is 'Reserved for calls in flight';
comment on column enrichment.run_credits.awaiting is 'Reserved for late results';
comment on column enrichment.run_credits.unknown is 'Reserved for calls of unknown cost';

-- A waterfall for e-mails and phones has a single price, which counts in full for both.
create view enrichment.run_costs as
  select r.run_id, r.file_name, r.source, r.finished_at, c.settled as credits_settled, c.held as credits_held,
    f.people, f.emails, f.verified_emails, f.phones, p.email_credits, p.phone_credits,
    round(c.settled / nullif(f.people, 0), 6) as credits_per_person,
    round(p.email_credits / nullif(f.verified_emails, 0), 6) as credits_per_verified_email,
    round(p.phone_credits / nullif(f.phones, 0), 6) as credits_per_phone
  from enrichment.runs r
  join enrichment.run_credits c on c.run_id = r.run_id
  cross join lateral (
    select c.records + c.decided
        + case when r.options -> 'waterfall' ? 'email' then c.waterfall else 0 end as email_credits,
      c.phones + case when r.options -> 'waterfall' ? 'phone' then c.waterfall else 0 end as phone_credits
  ) p
  cross join lateral (
    select count(distinct (service, person_key))::integer as people,
      (count(distinct (service, person_key)) filter (where has_email))::integer as emails,
      (count(distinct (service, person_key)) filter (where is_verified))::integer as verified_emails,
      (count(distinct (service, person_key)) filter (where has_phone))::integer as phones
    from (
      select service, person_key,
        facts ? 'email' or facts @? '$.waterfall_emails[*]' as has_email,
        lower(facts #>> '{email,email_status}') = 'verified'
          or facts @? '$.waterfall_emails[*] ? (@.email_status like_regex "^verified$" flag "i")' as is_verified,
        facts @? '$.phones[*] ? (@.type == null || !(@.type like_regex "^work_hq$" flag "i"))' as has_phone
      from enrichment_internal.observation_log o
      where run_id = r.run_id
        and exists (select from enrichment.contacts k where k.service = o.service and k.person_key = o.person_key)
    ) said
  ) f
  where r.status <> 'planned';
comment on view enrichment.run_costs is
  'Cost of each run, and the number of people, e-mails and phones that its calls found for contacts';
comment on column enrichment.run_costs.credits_settled is 'Cost of its calls';
comment on column enrichment.run_costs.credits_held is 'Credits reserved for calls without a final cost';
comment on column enrichment.run_costs.people is 'People found by its calls who are linked to a contact now';
comment on column enrichment.run_costs.emails is 'People with an e-mail found by its calls';
comment on column enrichment.run_costs.verified_emails is 'People with a verified e-mail found by its calls';
comment on column enrichment.run_costs.phones is 'People with a phone found by its calls, other than a switchboard';
comment on column enrichment.run_costs.email_credits is 'Settled credits, without deliveries for phones only';
comment on column enrichment.run_costs.phone_credits is 'Settled credits of deliveries with phones';
comment on column enrichment.run_costs.credits_per_person is 'Settled credits per person';
comment on column enrichment.run_costs.credits_per_verified_email is 'Credits of e-mails for each verified e-mail';
comment on column enrichment.run_costs.credits_per_phone is 'Phone credits per phone';

create view enrichment.run_waste as
  select r.run_id, w.kind, w.count::integer as count, round(coalesce(w.credits, 0), 6) as credits
  from enrichment.runs r
  cross join lateral (
    with written as (
      select distinct attempt_id, person_id
      from enrichment.attempt_people
      where run_id = r.run_id and outcome = 'enriched' and person_id is not null
    ), answers as (
      -- The price of an answer is divided equally among its people.
      select a.attempt_id, a.found_ids, a.admitted_at, coalesce(q.people, 0) as unwritten,
        a.credits_answered
          / greatest(1, cardinality(a.found_ids), coalesce(w.people, 0) + coalesce(q.people, 0)) as share
      from enrichment.attempts a
      left join (select attempt_id, count(*) as people from written group by attempt_id) w using (attempt_id)
      left join (
        select attempt_id, count(*) as people
        from enrichment.quarantined_people
        join enrichment.attempts using (attempt_id)
        where run_id = r.run_id
        group by attempt_id
      ) q using (attempt_id)
      where a.run_id = r.run_id and a.credits_answered > 0
    ), answered_people as (
      select share, row_number() over (partition by person_id order by admitted_at, a.attempt_id) as nth_answer
      from answers a
      cross join unnest(found_ids) as person_id
      join written using (attempt_id, person_id)
    )
    select 'no_contact' as kind, sum(unwritten) as count, sum(unwritten * share) as credits
    from answers
    union all
    select 'answered_again', count(*), sum(share)
    from answered_people
    where nth_answer > 1
    union all
    select 'no_answer', sum(people), sum(credits_settled)
    from enrichment.attempts
    where run_id = r.run_id and answered_at is null and credits_settled > 0
  ) w
  where w.count > 0;
comment on view enrichment.run_waste is 'Credits of each run that brought no result, by reason';
comment on column enrichment.run_waste.kind is 'no_contact, answered_again or no_answer; docs/guides/report.md';
comment on column enrichment.run_waste.count is 'People';
comment on column enrichment.run_waste.credits is 'Credits without a result';

create view enrichment.run_calls as
  select run_id, status, count(*)::integer as calls, sum(people)::integer as people, min(admitted_at) as first_at,
    max(admitted_at) as last_at
  from enrichment.attempts
  group by run_id, status;
comment on view enrichment.run_calls is 'Calls of each run, by the status of their attempt';
comment on column enrichment.run_calls.calls is 'Calls with this status';
comment on column enrichment.run_calls.people is 'People in these calls';
comment on column enrichment.run_calls.first_at is 'When the first of these calls was admitted';
comment on column enrichment.run_calls.last_at is 'When the last of these calls was admitted';

-- The function runs with the rights of its owner, because analysts cannot read the options of a run.
create function enrichment.most_calls(of_run text, within interval)
  returns integer language sql stable security definer set search_path = enrichment, pg_catalog as $$
    with span as (
      select r.options ->> 'service' as service, min(a.admitted_at) as first, max(a.admitted_at) as last
      from runs r
      join attempts a using (run_id)
      where run_id = of_run and a.status <> 'released'
      group by 1
    )
    select coalesce(max(calls), 0)::integer
    from (
      select a.admitted_at, s.first, count(*) over (
        order by a.admitted_at range between within - interval '1 microsecond' preceding and current row) as calls
      from span s
      join attempts a on a.admitted_at between s.first - within and s.last and a.status <> 'released'
      join runs r on r.run_id = a.run_id and r.options ->> 'service' = s.service
    ) windows
    where admitted_at >= first
$$;
comment on function enrichment.most_calls(text, interval) is
  'Maximum number of calls of all runs to the service in any period of this length during the run';

create view enrichment.run_late_results as
  select r.run_id, c.awaited, c.expired, d.*
  from enrichment.runs r
  cross join lateral (
    select (count(*) filter (where status = 'awaiting' and awaited_until > now()))::integer as awaited,
      (count(*) filter (where status = 'awaiting' and awaited_until <= now() or status = 'unknown' and exists (
        select from enrichment.expected_results e
        where e.attempt_id = a.attempt_id and e.status = 'expected')))::integer as expired
    from enrichment.attempts a
    where run_id = r.run_id
  ) c
  cross join lateral (
    select (count(*) filter (where d.status = 'applied'))::integer as arrived,
      (count(*) filter (where d.status = 'applied' and origin = 'poll'))::integer as polled,
      (count(*) filter (where d.status = 'applied' and late))::integer as late,
      (count(*) filter (where d.status = 'duplicate'))::integer as duplicate,
      (count(*) filter (where d.status = 'quarantined'))::integer as quarantined,
      (count(*) filter (where d.status = 'received'))::integer as waiting,
      round(percentile_cont(0.5) within group (order by seconds) filter (where d.status = 'applied'))::integer
        as median_seconds,
      round(max(seconds) filter (where d.status = 'applied'))::integer as longest_seconds
    from enrichment.webhook_deliveries d
    left join enrichment.attempts a using (attempt_id)
    cross join lateral (
      select greatest(0, extract(epoch from d.received_at - a.answered_at))::float8 as seconds
    ) took
    where d.run_id = r.run_id
  ) d;
comment on view enrichment.run_late_results is 'Late results of each run: arrived and awaited results, and their times';
comment on column enrichment.run_late_results.awaited is 'Calls whose late results are awaited';
comment on column enrichment.run_late_results.expired is 'Calls whose late results did not arrive before the deadline';
comment on column enrichment.run_late_results.arrived is 'Deliveries that took effect';
comment on column enrichment.run_late_results.polled is 'Deliveries in arrived that a poll fetched';
comment on column enrichment.run_late_results.late is 'Deliveries in arrived after the end of the run';
comment on column enrichment.run_late_results.duplicate is 'Deliveries that had arrived before';
comment on column enrichment.run_late_results.quarantined is 'Deliveries that cannot be read';
comment on column enrichment.run_late_results.waiting is 'Deliveries that are not applied yet';
comment on column enrichment.run_late_results.median_seconds is 'Median seconds from the answer to the delivery';
comment on column enrichment.run_late_results.longest_seconds is 'Maximum seconds from the answer to the delivery';
