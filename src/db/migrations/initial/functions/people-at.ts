import { worstEmailRank } from '../../../../domain/late-results/late-assignment.ts';
import { isValid } from '../../../valid-entries.ts';

/**
 * What an observation states, without the values: a later observation with the same outline replaces all of its values.
 * Addresses of a waterfall are the exception, because an earlier one can have the better status. For current facts each
 * observation is read once, so the outline is not worth its time.
 */
const outline = `case
            when 'infinity' = all (moments) or facts ? 'waterfall_emails' then observation_id::text
            else concat_ws('|', organization_key, array(select jsonb_object_keys(facts)),
              array(select jsonb_object_keys(facts -> 'organization_name')), array(
                select concat_ws(' ', entry ->> 'email', entry ->> 'number', entry ->> 'kind',
                  array(select jsonb_object_keys(entry)))
                from jsonb_array_elements(coalesce(facts -> 'emails', '[]') || coalesce(facts -> 'phones', '[]'))
                  as entry
                order by 1))
          end`;

/**
 * The facts about people, each at a time, from the entries recorded until then; at 'infinity' the current facts. Steps
 * are materialized, because without statistics, in a new warehouse, PostgreSQL evaluates a step again for each person.
 */
export const peopleAt = `create function enrichment.people_at(of_service text, keys text[], moments timestamptz[])
    returns table (person_key text, moment timestamptz, facts jsonb, said_by jsonb, organization_key text, emails jsonb,
      phones jsonb, asked_at timestamptz, run_id text, attempt_id text)
    language sql stable as $$
      with recorded as materialized (
        select k.person_key, o.observation_id, o.asked_at, o.recorded_at, o.run_id, o.attempt_id, o.organization_key,
          o.facts - '{contact,account}'::text[] as facts
        from (select distinct unnest(keys)) as k (person_key)
        cross join lateral (
          select * from enrichment.observation_log where service = of_service and person_key = k.person_key offset 0
        ) o
        where ${isValid('o')}
      ), said as materialized (
        -- Of many observations, few are not replaced at a moment: otherwise each moment would read all before it.
        select m.moment, r.*
        from (
          select *, min(recorded_at) over (
            partition by person_key, ${outline}
            order by asked_at, observation_id
            rows between 1 following and unbounded following) as replaced_at
          from recorded
        ) r
        join (select distinct person_key, moment from unnest(keys, moments) as w (person_key, moment)) m
          on m.person_key = r.person_key
        where r.recorded_at <= m.moment and (r.replaced_at is null or r.replaced_at > m.moment)
      ), merged as materialized (
        select person_key, moment,
          enrichment.merge(facts - '{email,organization_name,phones,emails,waterfall_emails}'::text[]
            order by asked_at, observation_id) as facts,
          enrichment.merge(cited order by asked_at, observation_id) as said_by,
          max(asked_at) filter (where is_newest) as asked_at,
          max(run_id) filter (where is_newest) as run_id,
          max(attempt_id) filter (where is_newest) as attempt_id
        from (
          select s.*, (
              select coalesce(jsonb_object_agg(member, observation_id), '{}') from jsonb_object_keys(
                facts - '{email,organization_name,phones,emails,waterfall_emails}'::text[]) as member
            ) as cited,
            -- Late results go last: they have no profile.
            1 = row_number() over (
              partition by person_key, moment
              order by facts ?| '{phones,waterfall_emails}', asked_at desc, observation_id desc
            ) as is_newest
          from said s
        ) cited
        group by person_key, moment
      ), employer as materialized (
        -- Within one company, a field that the newest answer leaves empty keeps its earlier value.
        select person_key, moment, organization_key, newest_id as observation_id,
          enrichment.merge(facts -> 'organization_name' order by asked_at, observation_id) as facts
        from (
          select *, first_value(organization_key) over newest_first as newest_key,
            first_value(observation_id) over newest_first as newest_id
          from said where organization_key is not null
          window newest_first as (partition by person_key, moment order by asked_at desc, observation_id desc)
        ) employed
        where organization_key = newest_key
        group by person_key, moment, organization_key, newest_id
      ), offered as (
        select person_key, moment, observation_id, asked_at, false as late, facts -> 'email' as address,
          0::bigint as place
        from said where facts ? 'email'
        union all
        select s.person_key, s.moment, s.observation_id, s.asked_at, true, e.address, e.place
        from said s
        cross join lateral jsonb_array_elements(s.facts -> 'waterfall_emails') with ordinality as e (address, place)
      ), answered as materialized (
        select distinct on (person_key, moment) person_key, moment, observation_id, asked_at
        from offered where not late
        order by person_key, moment, asked_at desc, observation_id desc
      ), email as materialized (
        -- An address from a waterfall replaces the answer's where its status is better.
        select distinct on (person_key, moment) person_key, moment, o.observation_id, o.address - 'rank' as address
        from offered o
        left join answered a using (person_key, moment)
        where o.observation_id = a.observation_id
          or (o.late
            and (o.address ->> 'rank')::integer < ${worstEmailRank}
            and (a.asked_at is null or o.asked_at >= a.asked_at))
        order by person_key, moment, (o.address ->> 'rank')::integer, o.late, o.asked_at, o.observation_id, o.place
      ), addresses as materialized (
        select person_key, moment,
          jsonb_agg(address order by address ->> 'kind', address ->> 'position', email) as emails
        from (
          select s.person_key, s.moment, a ->> 'email' as email,
            enrichment.merge(a || jsonb_build_object('observation_id', s.observation_id)
              order by s.asked_at, s.observation_id)
              -- An answer or a waterfall that repeats the address in another place does not take it from the profile.
              || jsonb_strip_nulls(jsonb_build_object('profile_observation_id',
                (array_agg(s.observation_id order by s.asked_at desc, s.observation_id desc)
                  filter (where a ->> 'kind' = 'profile'))[1])) as address
          from said s
          cross join lateral jsonb_array_elements(s.facts -> 'emails') as a
          group by 1, 2, 3
        ) each_address
        group by person_key, moment
      ), numbers as (
        select s.person_key, s.moment, n ->> 'number' as number, max(s.asked_at) as asked_at,
          enrichment.merge(n || jsonb_build_object('observation_id', s.observation_id, 'asked_at', s.asked_at)
            order by s.asked_at, s.observation_id) as phone
        from said s
        cross join lateral jsonb_array_elements(s.facts -> 'phones') as n
        group by 1, 2, 3
      ), ranked as (
        select *, row_number() over (
          partition by person_key, moment
          order by (phone ->> 'status_rank') is null, asked_at desc, coalesce(phone ->> 'dnc_rank', '0'),
            phone ->> 'status_rank', phone ->> 'e164_rank', coalesce(phone ->> 'type_rank', '2'),
            (phone ->> 'position')::integer, number collate "C") as place,
          asked_at = max(asked_at) over (partition by person_key, moment)
            and phone ->> 'status_rank' is not null as usable
        from numbers
      ), phones as materialized (
        select person_key, moment, jsonb_agg(phone order by place) as phones,
          min(number) filter (where place = 1 and usable) as number,
          min(phone ->> 'observation_id') filter (where place = 1 and usable) as observation_id
        from ranked group by person_key, moment
      )
      select person_key, moment,
        m.facts || jsonb_strip_nulls(jsonb_build_object('email', email.address, 'organization_name', employer.facts,
          'phone', case when phones.number is not null then jsonb_build_object('phone', phones.number) end)) as facts,
        m.said_by || jsonb_strip_nulls(jsonb_build_object('email', email.observation_id,
          'organization_name', employer.observation_id, 'phone', phones.observation_id::bigint)) as said_by,
        employer.organization_key,
        coalesce(addresses.emails, '[]') as emails,
        coalesce(phones.phones, '[]') as phones,
        m.asked_at, m.run_id, m.attempt_id
        from merged m
        left join employer using (person_key, moment)
        left join email using (person_key, moment)
        left join addresses using (person_key, moment)
        left join phones using (person_key, moment)
  $$`;
