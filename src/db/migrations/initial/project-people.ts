import { appendToLog } from './append-to-log.ts';
import { worstEmailRank } from '../../../domain/late-results/late-assignment.ts';
import { personFieldGroups, type FieldGroup } from '../../../domain/identity/person-columns.ts';
import { isValid, isValidMatch } from '../../valid-entries.ts';

const groups = Object.entries<FieldGroup>(personFieldGroups);
const columns = groups.flatMap(([, group]) => Object.keys(group.columns));

/** The value of each column in `facts`, an object with one member for each group. */
const valuesOf = ([name, group]: (typeof groups)[number]): string[] =>
  Object.entries(group.columns).map(([column, type]) => {
    const path = `'{${name},${column}}'`;
    if (type === 'text[]') return `enrichment.texts(c.facts #> ${path})`;
    return type === 'integer' ? `enrichment.whole(c.facts #> ${path})` : `c.facts #>> ${path}`;
  });
const values = groups.flatMap(valuesOf);

/** The same of the columns of `enriched_contacts`, in their order. */
export const contactValues = groups.filter(([, { inContacts }]) => inContacts).flatMap(valuesOf);

/** What `people` has beside the key. */
const written = [
  ...columns,
  'organization_key',
  'emails',
  'phones',
  'employment',
  'said_by',
  'enriched_at',
  'run_id',
  'attempt_id',
];

const changedGroups = groups
  .filter(([, group]) => group.inContacts)
  .map(([name, group]) => {
    const of = (alias: string): string =>
      Object.keys(group.columns)
        .map((column) => `${alias}.${column}`)
        .join(', ');
    return `case when row(${of('was')}) is distinct from row(${of('v')}) then '${name}' end`;
  });

const organizationColumns: Readonly<Record<string, string>> = {
  organization_id: 'text:id',
  name: 'text:name',
  domain: 'text:domain',
  website_url: 'text:website_url',
  linkedin_url: 'text:proflink_url',
  microblog_url: 'text:microblog_url',
  socialnet_url: 'text:socialnet_url',
  logo_url: 'text:logo_url',
  industry: 'text:industry',
  industries: 'texts:industries',
  secondary_industries: 'texts:secondary_industries',
  keywords: 'texts:keywords',
  technologies: 'texts:technology_names',
  employees: 'whole:estimated_num_employees',
  founded_year: 'whole:founded_year',
  annual_revenue: 'numeric:annual_revenue',
  annual_revenue_printed: 'text:annual_revenue_printed',
  total_funding: 'numeric:total_funding',
  total_funding_printed: 'text:total_funding_printed',
  latest_funding_stage: 'text:latest_funding_stage',
  latest_funding_round_date: 'text:latest_funding_round_date',
  raw_address: 'text:raw_address',
  street_address: 'text:street_address',
  city: 'text:city',
  state: 'text:state',
  postal_code: 'text:postal_code',
  country: 'text:country',
  short_description: 'text:short_description',
  seo_description: 'text:seo_description',
  phone: 'text:phone',
};

const organizationValues = Object.values(organizationColumns).map((source) => {
  const [type, member] = source.split(':') as [string, string];
  if (type === 'text') return `f.facts ->> '${member}'`;
  if (type === 'numeric')
    return `case when jsonb_typeof(f.facts -> '${member}') = 'number' then (f.facts ->> '${member}')::numeric end`;
  return `enrichment.${type}(f.facts -> '${member}')`;
});

const organizationWritten = [...Object.keys(organizationColumns), 'observation_id', 'observed_at', 'run_id'];

function assignments(names: readonly string[]): string {
  return names.map((name) => `${name} = excluded.${name}`).join(', ');
}

function rowOf(alias: string, names: readonly string[]): string {
  return `row(${names.map((name) => `${alias}.${name}`).join(', ')})`;
}

/** Appending to the log, and computing the current state of people, companies and contacts from the log. */
export const projectionFunctions = [
  `create aggregate enrichment.merge(jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}')`,
  // PL/pgSQL keeps plans for a session, SQL functions plan again for each value and each call before PostgreSQL 18.
  `create function enrichment.texts(list jsonb) returns text[] language plpgsql immutable parallel safe as $$
    begin
      if jsonb_typeof(list) = 'array' and list <> '[]' then
        return array(select jsonb_array_elements_text(list));
      end if;
      return null;
    end
  $$`,
  `create function enrichment.whole(value jsonb) returns integer language sql immutable parallel safe as $$
    select case when jsonb_typeof(value) = 'number' and value::numeric between 0 and 2147483647
        and value::numeric = trunc(value::numeric)
      then value::numeric::integer end
  $$`,

  // Contacts before people and people before companies, each in the order of their keys: two writers wait for one
  // another only one way round. The person whom a contact was before is locked as well, so that the feed says in order
  // what became of it.
  `create function enrichment.lock_log(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns void language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(1, key) from (
        select distinct hashtext(source || ' ' || contact_id) as key
        from unnest(of_sources, of_contacts) as g (source, contact_id) order by key
      ) keys;
      perform pg_advisory_xact_lock(2, key) from (
        select hashtext(of_service || ' ' || person_key) as key from unnest(of_people) as person_key
        union
        select hashtext(c.service || ' ' || c.person_key)
        from unnest(of_sources, of_contacts) as g (source, contact_id)
        join enrichment.contacts c on c.source = g.source and c.contact_id = g.contact_id
        order by key
      ) keys;
    end
  $$`,

  `create function enrichment.project_organizations(of_service text, keys text[])
    returns void language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(3, key) from (
        select distinct hashtext(of_service || ' ' || k) as key from unnest(keys) as k order by key
      ) hashes;
      with newest as materialized (
        select k.organization_key, o.observation_id, o.asked_at, o.run_id, o.organization_facts
        from unnest(keys) as k (organization_key)
        cross join lateral (
          select * from enrichment.observations o
          where o.service = of_service and o.organization_key = k.organization_key and ${isValid('o')}
          order by o.asked_at desc, o.observation_id desc limit 1
        ) o
      ), gone as (
        delete from enrichment.organizations g
        where g.service = of_service and g.organization_key = any(keys)
          and g.organization_key not in (select organization_key from newest)
      )
      insert into enrichment.organizations as g (service, organization_key, ${organizationWritten.join(', ')})
      select of_service, n.organization_key, ${organizationValues.join(', ')},
        n.observation_id, n.asked_at, n.run_id
      from newest n
      left join enrichment.organization_facts f on f.facts_hash = n.organization_facts
      where not exists (
        select from enrichment.organizations g
        where g.service = of_service and g.organization_key = n.organization_key
          and g.observation_id = n.observation_id)
      order by n.organization_key
      on conflict (service, organization_key) do update set ${assignments(organizationWritten)};
    end
  $$`,

  // What was known of people at a time, as far as it had been recorded then; at 'infinity' what is known now.
  // Materialized: without statistics, in a new warehouse, PostgreSQL evaluates a step again for each person.
  `create function enrichment.people_at(of_service text, keys text[], moment timestamptz)
    returns table (person_key text, facts jsonb, said_by jsonb, organization_key text, emails jsonb, phones jsonb,
      asked_at timestamptz, run_id text, attempt_id text)
    language sql stable as $$
      with said as materialized (
        select o.person_key, o.observation_id, o.asked_at, o.run_id, o.attempt_id, o.organization_key,
          o.facts - '{contact,account}'::text[] as facts
        from enrichment.observations o
        where o.service = of_service and o.person_key = any(keys) and o.recorded_at <= moment and ${isValid('o')}
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
        -- A late result says nothing of the profile.
        select distinct on (person_key) person_key, asked_at, run_id, attempt_id
        from said
        order by person_key, facts ?| '{phones,waterfall_emails}', asked_at desc, observation_id desc
      ), current_employer as materialized (
        select distinct on (person_key) person_key, organization_key, observation_id
        from said where organization_key is not null
        order by person_key, asked_at desc, observation_id desc
      ), employer as materialized (
        -- One company: a field that the newest answer left empty is kept.
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
              order by s.asked_at, s.observation_id) as address
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
  $$`,

  `create function enrichment.project_people(of_service text, keys text[])
    returns void language plpgsql as $$
    begin
      with current_facts as materialized (
        select * from enrichment.people_at(of_service, keys, 'infinity')
      ), gone as (
        delete from enrichment.people p
        where p.service = of_service and p.person_key = any(keys)
          and p.person_key not in (select person_key from current_facts)
      )
      insert into enrichment.people as p (service, person_key, ${written.join(', ')})
      select of_service, c.person_key, ${values.join(', ')},
        c.organization_key, c.emails, c.phones, coalesce(c.facts -> 'employment', '[]'), c.said_by,
        c.asked_at, c.run_id, c.attempt_id
      from current_facts c
      order by c.person_key
      on conflict (service, person_key) do update set ${assignments(written)}
      where ${rowOf('p', written)} is distinct from ${rowOf('excluded', written)};
    end
  $$`,

  // The newest decision about each contact holds. A contact whose newest decision names no person has no person.
  `create function enrichment.project_contacts(of_sources text[], of_contacts text[])
    returns void language plpgsql as $$
    begin
      with decided as materialized (
        select distinct on (o.source, o.contact_id) o.*
        from (select distinct * from unnest(of_sources, of_contacts) as g (source, contact_id)) g
        join enrichment.contact_matches o on o.source = g.source and o.contact_id = g.contact_id
        where ${isValidMatch('o')}
        order by o.source, o.contact_id, o.decided_at desc, o.match_id desc
      ), gone as (
        delete from enrichment.contacts c
        using unnest(of_sources, of_contacts) as g (source, contact_id)
        where c.source = g.source and c.contact_id = g.contact_id and not exists (
          select from decided d
          where d.source = c.source and d.contact_id = c.contact_id and d.person_key is not null)
      )
      insert into enrichment.contacts as c (source, contact_id, service, person_key, match_id, evidence, asked, run_id,
        row_number)
      select source, contact_id, service, person_key, match_id, evidence, asked, run_id, row_number
      from decided where person_key is not null
      order by source, contact_id
      on conflict (source, contact_id) do update set service = excluded.service, person_key = excluded.person_key,
        match_id = excluded.match_id, evidence = excluded.evidence, asked = excluded.asked, run_id = excluded.run_id,
        row_number = excluded.row_number
      where c.match_id <> excluded.match_id;
    end
  $$`,

  // What the contacts were before is compared with what they are afterwards: whatever changed them is in the feed,
  // once.
  `create function enrichment.project(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns void language plpgsql as $$
    declare
      touched_sources text[];
      touched_contacts text[];
      before enrichment.enriched_contacts[];
    begin
      -- A cached plan assumes ten people. For 332 people of a new warehouse it took 28 s, a plan of their own 0.2 s.
      perform set_config('plan_cache_mode',
        case when cardinality(of_people) + cardinality(of_contacts) > 20 then 'force_custom_plan' else 'auto' end,
        true);
      select coalesce(array_agg(source), '{}'), coalesce(array_agg(contact_id), '{}')
      into touched_sources, touched_contacts
      from (
        select source, contact_id from enrichment.contacts
        where service = of_service and person_key = any(of_people)
        union
        select * from unnest(of_sources, of_contacts)
      ) touched;
      select array_agg(v) into before
      from unnest(touched_sources, touched_contacts) as g (source, contact_id)
      join enrichment.enriched_contacts v on v.source = g.source and v.contact_id = g.contact_id;

      perform enrichment.project_people(of_service, of_people);
      perform enrichment.project_organizations(of_service, array(
        select distinct organization_key from enrichment.observations
        where service = of_service and person_key = any(of_people) and organization_key !~ '^name:'));
      perform enrichment.project_contacts(of_sources, of_contacts);

      with changed as materialized (
        select case when v.source is null then 'delete' else 'upsert' end as operation, g.source, g.contact_id,
          array_remove(array[${changedGroups.join(',\n            ')}], null) as field_groups
        from unnest(touched_sources, touched_contacts) as g (source, contact_id)
        left join unnest(before) as was on was.source = g.source and was.contact_id = g.contact_id
        left join enrichment.enriched_contacts v on v.source = g.source and v.contact_id = g.contact_id
        where was.* is distinct from v.*
      ), overtaken as (
        -- A transaction that began later changed the contact first. Readers wait for this one and have not read that.
        delete from enrichment.changes o
        using changed c
        where o.source = c.source and o.contact_id = c.contact_id and o.transaction_id > pg_current_xact_id()
        returning o.source, o.contact_id, o.field_groups
      )
      insert into enrichment.changes (operation, source, contact_id, field_groups)
      select c.operation, c.source, c.contact_id, c.field_groups || array(
          select unnest(o.field_groups) from overtaken o where o.source = c.source and o.contact_id = c.contact_id
          except
          select unnest(c.field_groups))
      from changed c
      order by c.source, c.contact_id;
    end
  $$`,
  appendToLog,
];
