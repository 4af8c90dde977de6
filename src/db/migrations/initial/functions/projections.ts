import { assignments, rowOf } from '../assignments.ts';
import { isList, organizationColumns } from '../organization-columns.ts';

const columns = organizationColumns.filter((column) => !isList(column));

/** The members of the facts as columns: `->>` would decompress the facts for each column. */
const members = [
  ...columns.map(({ name, type, member = name }) => `${member} ${type === 'text' ? 'text' : 'jsonb'}`),
  'primary_phone jsonb',
];

const values = columns.map(({ name, type, member = name }) => {
  const value = `f.${member}`;
  // Services state the number as an object. The interface document leaves its members open.
  if (name === 'phone')
    return `coalesce(nullif(${value}, ''), f.primary_phone ->> 'sanitized_number', f.primary_phone ->> 'number')`;
  if (type === 'integer') return `enrichment.whole(${value})`;
  return type === 'numeric'
    ? `case when jsonb_typeof(${value}) = 'number' then ${value}::numeric end`
    : value;
});

const written = [...columns.map(({ name }) => name), 'observation_id', 'observed_at', 'run_id'];

/** Functions of the digest, and the observations that retention compares. */
export const projectionFunctions = [
  `create function enrichment.whole(value jsonb) returns integer language sql immutable parallel safe as $$
    select case when jsonb_typeof(value) = 'number' and value::numeric between 0 and 2147483647
        and value::numeric = trunc(value::numeric)
      then value::numeric::integer end
  $$`,

  // Computes the current state of companies from the newest observation, and returns the keys of written and removed
  // companies. Without `anew`, a company whose newest observation states the same facts gets only the new source: many
  // answers describe the same company, and reading 50 KB of facts takes milliseconds.
  `create function enrichment.project_organizations(of_service text, keys text[], anew boolean)
    returns setof text language plpgsql as $$
    begin
      return query with newest as materialized (
        select k.organization_key, o.observation_id, o.asked_at, o.run_id, o.organization_facts
        from (select distinct unnest(keys) as organization_key) k
        cross join lateral (
          select * from enrichment.observation_log o
          where o.service = of_service and o.organization_key = k.organization_key
            and o.organization_facts is not null
          order by o.asked_at desc, o.observation_id desc limit 1
        ) o
      ), gone as (
        delete from enrichment.organization_values g
        where g.service = of_service and g.organization_key = any(keys)
          and g.organization_key not in (select n.organization_key from newest n)
        returning g.organization_key
      ), unchanged as materialized (
        select n.organization_key, n.observation_id <> g.observation_id as is_confirmed
        from newest n
        join enrichment.organization_values g
          on g.service = of_service and g.organization_key = n.organization_key and g.organization_key = any(keys)
        left join enrichment.observation_log o on o.observation_id = g.observation_id
        where not anew
          and (n.observation_id = g.observation_id or n.organization_facts = o.organization_facts)
      ), confirmed as (
        update enrichment.organization_values g
        set observation_id = n.observation_id, observed_at = n.asked_at, run_id = n.run_id
        from newest n
        join unchanged u on u.organization_key = n.organization_key
        where g.service = of_service and g.organization_key = any(keys) and g.organization_key = n.organization_key
          and u.is_confirmed
        returning g.organization_key
      ), written as (
        insert into enrichment.organization_values as g (service, organization_key, ${written.join(', ')})
        select of_service, n.organization_key, ${values.join(', ')}, n.observation_id, n.asked_at, n.run_id
        from newest n
        left join enrichment.organization_facts said on said.facts_hash = n.organization_facts
        left join lateral jsonb_to_record(said.facts) as f (${members.join(', ')}) on true
        where n.organization_key not in (select u.organization_key from unchanged u)
        order by n.organization_key
        on conflict (service, organization_key) do update set ${assignments(written)}
        where ${rowOf('g', written)} is distinct from ${rowOf('excluded', written)}
        returning g.organization_key
      )
      select organization_key from gone
      union all
      select organization_key from confirmed
      union all
      select organization_key from written;
    end
  $$`,

  // The observations that newer ones may have replaced. Retention compares only these: each time, it would otherwise
  // read every old observation, although most people have one, which stays.
  `create table enrichment.prune_candidates (
    observation_id bigint primary key,
    recorded_at timestamptz not null,
    queued_by xid8 not null default pg_current_xact_id()
  )`,
  `create index prune_candidates_by_age on enrichment.prune_candidates (recorded_at, observation_id)`,
  // The values of a company come from another observation now.
  `create function enrichment.queue_former_source() returns trigger language plpgsql as $$
    begin
      insert into enrichment.prune_candidates (observation_id, recorded_at)
      select o.observation_id, o.recorded_at
      from enrichment.observation_log o
      where o.observation_id = old.observation_id
      on conflict (observation_id) do update set queued_by = excluded.queued_by;
      return null;
    end
  $$`,
  `create trigger company_has_another_source
    after update of observation_id on enrichment.organization_values
    for each row when (old.observation_id <> new.observation_id)
    execute function enrichment.queue_former_source()`,
];
