import { worstEmailRank } from '../../../../domain/late-results/late-assignment.ts';
import { isValid } from '../../../valid-entries.ts';

/**
 * What an observation says about its person under another key: not the profile, nor the address of the profile, by
 * which records of one person are recognised.
 */
const factsOfOtherKey = `(
            select coalesce(jsonb_object_agg(key, case key when 'emails' then (
                select coalesce(jsonb_agg(address), '[]') from jsonb_array_elements(value) as address
                where address ->> 'kind' <> 'profile')
              else value end), '{}')
            from jsonb_each(o.facts) where key in ('phones', 'emails', 'waterfall_emails'))`;

/**
 * The facts about people at a time, from the entries recorded until then; at 'infinity' the current facts. A person has
 * the phones and addresses of all keys of the person, and the other facts of the one key. Steps are materialized,
 * because without statistics, in a new warehouse, PostgreSQL evaluates a step again for each person.
 */
export const peopleAt = `create function enrichment.people_at(of_service text, keys text[], moment timestamptz)
    returns table (person_key text, facts jsonb, said_by jsonb, organization_key text, emails jsonb, phones jsonb,
      asked_at timestamptz, run_id text, attempt_id text)
    language sql stable as $$
      with observed as materialized (
        select distinct k as person_key, k as observed_key, true as is_own from unnest(keys) as k
        union
        select k, other, false
        from unnest(keys) as k
        cross join lateral (
          select service, person_keys from enrichment.contacts where person_keys @> array[k] offset 0
        ) c
        cross join unnest(c.person_keys) as other
        where c.service = of_service and other <> k
      ), said as materialized (
        select k.person_key, o.observation_id, o.asked_at, o.run_id, o.attempt_id, k.is_own,
          case when k.is_own then o.organization_key end as organization_key,
          case when k.is_own then o.facts - '{contact,account}'::text[] else ${factsOfOtherKey} end as facts
        from observed k
        cross join lateral (
          select * from enrichment.observations where service = of_service and person_key = k.observed_key offset 0
        ) o
        where o.recorded_at <= moment and ${isValid('o')}
      ), merged as materialized (
        select person_key,
          enrichment.merge(facts - '{email,organization_name,phones,emails,waterfall_emails}'::text[]
            order by asked_at, observation_id) as facts,
          enrichment.merge(cited order by asked_at, observation_id) as said_by
        from (
          select s.*, (
            select coalesce(jsonb_object_agg(member, observation_id), '{}') from jsonb_object_keys(
              facts - '{email,organization_name,phones,emails,waterfall_emails}'::text[]) as member
          ) as cited
          from said s
        ) cited
        group by person_key
      ), newest as materialized (
        -- Late results go last: they have no profile.
        select distinct on (person_key) person_key, asked_at, run_id, attempt_id
        from said where is_own
        order by person_key, facts ?| '{phones,waterfall_emails}', asked_at desc, observation_id desc
      ), current_employer as materialized (
        select distinct on (person_key) person_key, organization_key, observation_id
        from said where organization_key is not null
        order by person_key, asked_at desc, observation_id desc
      ), employer as materialized (
        -- Within one company, a field that the newest answer leaves empty keeps its earlier value.
        select s.person_key, c.organization_key, c.observation_id,
          enrichment.merge(s.facts -> 'organization_name' order by s.asked_at, s.observation_id) as facts
        from said s
        join current_employer c on c.person_key = s.person_key and c.organization_key = s.organization_key
        group by s.person_key, c.organization_key, c.observation_id
      ), offered as (
        select person_key, observation_id, asked_at, false as late, facts -> 'email' as address, 0::bigint as place
        from said where facts ? 'email'
        union all
        select s.person_key, s.observation_id, s.asked_at, true, e.address, e.place
        from said s
        cross join lateral jsonb_array_elements(s.facts -> 'waterfall_emails') with ordinality as e (address, place)
      ), answered as materialized (
        select distinct on (person_key) person_key, observation_id, asked_at
        from offered where not late
        order by person_key, asked_at desc, observation_id desc
      ), email as materialized (
        -- An address from a waterfall replaces the answer's where its status is better.
        select distinct on (o.person_key) o.person_key, o.observation_id, o.address - 'rank' as address
        from offered o
        left join answered a on a.person_key = o.person_key
        where o.observation_id = a.observation_id
          or (o.late
            and (o.address ->> 'rank')::integer < ${worstEmailRank}
            and (a.asked_at is null or o.asked_at >= a.asked_at))
        order by o.person_key, (o.address ->> 'rank')::integer, o.late, o.asked_at, o.observation_id, o.place
      ), addresses as materialized (
        select person_key, jsonb_agg(address order by address ->> 'kind', address ->> 'position', email) as emails
        from (
          select s.person_key, a ->> 'email' as email,
            enrichment.merge(a || jsonb_build_object('observation_id', s.observation_id)
              order by s.asked_at, s.observation_id)
              -- An answer or a waterfall that repeats the address in another place does not take it from the profile.
              || jsonb_strip_nulls(jsonb_build_object('profile_observation_id',
                (array_agg(s.observation_id order by s.asked_at desc, s.observation_id desc)
                  filter (where a ->> 'kind' = 'profile'))[1])) as address
          from said s
          cross join lateral jsonb_array_elements(s.facts -> 'emails') as a
          group by 1, 2
        ) each_address
        group by person_key
      ), numbers as (
        select s.person_key, n ->> 'number' as number, max(s.asked_at) as asked_at,
          enrichment.merge(n || jsonb_build_object('observation_id', s.observation_id, 'asked_at', s.asked_at)
            order by s.asked_at, s.observation_id) as phone
        from said s
        cross join lateral jsonb_array_elements(s.facts -> 'phones') as n
        group by 1, 2
      ), ranked as (
        select *, row_number() over (
          partition by person_key
          order by (phone ->> 'status_rank') is null, asked_at desc, coalesce(phone ->> 'dnc_rank', '0'),
            phone ->> 'status_rank', phone ->> 'e164_rank', coalesce(phone ->> 'type_rank', '2'),
            (phone ->> 'position')::integer, number collate "C") as place,
          asked_at = max(asked_at) over (partition by person_key) and phone ->> 'status_rank' is not null as usable
        from numbers
      ), phones as materialized (
        select person_key, jsonb_agg(phone order by place) as phones,
          min(number) filter (where place = 1 and usable) as number,
          min(phone ->> 'observation_id') filter (where place = 1 and usable) as observation_id
        from ranked group by person_key
      )
      select m.person_key,
        m.facts || jsonb_strip_nulls(jsonb_build_object('email', email.address, 'organization_name', employer.facts,
          'phone', case when phones.number is not null then jsonb_build_object('phone', phones.number) end)) as facts,
        m.said_by || jsonb_strip_nulls(jsonb_build_object('email', email.observation_id,
          'organization_name', employer.observation_id, 'phone', phones.observation_id::bigint)) as said_by,
        employer.organization_key,
        coalesce(addresses.emails, '[]') as emails,
        coalesce(phones.phones, '[]') as phones,
        newest.asked_at, newest.run_id, newest.attempt_id
        from merged m
        join newest on newest.person_key = m.person_key
        left join employer on employer.person_key = m.person_key
        left join email on email.person_key = m.person_key
        left join addresses on addresses.person_key = m.person_key
        left join phones on phones.person_key = m.person_key
  $$`;
