import { isValid } from '../../../valid-entries.ts';
import { assignments, rowOf } from '../assignments.ts';
import { isList, organizationColumns } from '../organization-columns.ts';

const columns = organizationColumns.filter((column) => !isList(column));

/** The members of the facts as columns: `->>` would decompress the facts for each column. */
const members = [
  ...columns.map(({ name, type, member = name }) => `${member} ${type === 'text' ? 'text' : 'jsonb'}`),
  'primary_phone jsonb',
];

const organizationValues = columns.map(({ name, type, member = name }) => {
  const value = `f.${member}`;
  // Services state the number as an object. The interface document leaves its members open.
  if (name === 'phone')
    return `coalesce(nullif(${value}, ''), f.primary_phone ->> 'sanitized_number', f.primary_phone ->> 'number')`;
  if (type === 'integer') return `enrichment.whole(${value})`;
  return type === 'numeric'
    ? `case when jsonb_typeof(${value}) = 'number' then ${value}::numeric end`
    : value;
});

const organizationWritten = [...columns.map(({ name }) => name), 'observation_id', 'observed_at', 'run_id'];

/** Query of the values of a company. The caller has locked the company, so that the values keep their place. */
const valuesOf = (key: string): string => `
          select g.ctid, g.observation_id from enrichment.organization_values g
          where g.service = of_service and g.organization_key = ${key}
          offset 0`;

/**
 * Computes the current state of companies from the log, and returns the keys of written and removed companies. Without
 * `anew`, leaves the values of a company as they are if its newest observation states the same facts, because many
 * answers describe the same company, and reading 50 KB of facts takes milliseconds.
 */
export const projectOrganizations = `
  create function enrichment.project_organizations(of_service text, keys text[], anew boolean)
    returns setof text language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(3, key) from (
        select distinct hashtext(of_service || ' ' || k) as key from unnest(keys) as k order by key
      ) hashes;
      return query with newest as materialized (
        select k.organization_key, o.observation_id, o.asked_at, o.run_id, o.organization_facts
        from unnest(keys) as k (organization_key)
        cross join lateral (
          select * from enrichment.observation_log o
          where o.service = of_service and o.organization_key = k.organization_key
            and o.organization_facts is not null and ${isValid('o')}
          order by o.asked_at desc, o.observation_id desc limit 1
        ) o
      ), gone as (
        delete from enrichment.organization_values
        where ctid = any(array(
          select g.ctid
          from (select unnest(keys) except select organization_key from newest) as k (organization_key)
          cross join lateral (${valuesOf('k.organization_key')}) g
        ))
        returning organization_key
      ), unchanged as materialized (
        select n.organization_key, g.ctid as place, n.observation_id <> g.observation_id as is_confirmed
        from newest n
        cross join lateral (${valuesOf('n.organization_key')}) g
        cross join lateral (
          select organization_facts from enrichment.observation_log where observation_id = g.observation_id offset 0
        ) o
        where not anew
          and (n.observation_id = g.observation_id or n.organization_facts = o.organization_facts)
      ), confirmed as (
        update enrichment.organization_values g
        set observation_id = n.observation_id, observed_at = n.asked_at, run_id = n.run_id
        from newest n
        join unchanged u on u.organization_key = n.organization_key
        where g.ctid = u.place and u.is_confirmed
        returning g.organization_key
      ), written as (
        insert into enrichment.organization_values as g (service, organization_key, ${organizationWritten.join(', ')})
        select of_service, n.organization_key, ${organizationValues.join(', ')},
          n.observation_id, n.asked_at, n.run_id
        from newest n
        left join enrichment.organization_facts said on said.facts_hash = n.organization_facts
        left join lateral jsonb_to_record(said.facts) as f (${members.join(', ')}) on true
        where n.organization_key not in (select organization_key from unchanged)
        order by n.organization_key
        on conflict (service, organization_key) do update set ${assignments(organizationWritten)}
        where ${rowOf('g', organizationWritten)} is distinct from ${rowOf('excluded', organizationWritten)}
        returning g.organization_key
      )
      select organization_key from gone
      union all
      select organization_key from confirmed
      union all
      select organization_key from written;
    end
  $$`;
