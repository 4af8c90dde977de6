import { appendToLog } from './append-to-log.ts';
import {
  personColumns,
  personFieldGroups,
  type FieldGroup,
} from '../../../../domain/warehouse/person-columns.ts';
import { isValidMatch } from '../../../valid-entries.ts';
import { assignments, rowOf } from '../assignments.ts';
import { keptPlans } from '../kept-plans.ts';
import { textsOf } from '../texts-of.ts';
import { peopleAt } from './people-at.ts';
import { projectOrganizations } from './project-organizations.ts';

const columns = personColumns.map(({ name }) => name);

/** The value of a column in `facts`, an object with one member for each group. */
const valueOf = ({ name, group, type }: (typeof personColumns)[number]): string => {
  const path = `'{${group},${name}}'`;
  if (type === 'text[]') return textsOf(`c.facts #> ${path}`);
  return type === 'integer' ? `enrichment.whole(c.facts #> ${path})` : `c.facts #>> ${path}`;
};
const values = personColumns.map(valueOf);

/** The same of the columns of `enriched_contacts`, in their order. */
export const contactValues = personColumns.filter(({ inContacts }) => inContacts).map(valueOf);

/** Columns of `contacts` without the key. */
const contactWritten = [
  'service',
  'person_key',
  'person_keys',
  'match_id',
  'evidence',
  'asked',
  'run_id',
  'row_number',
];

/** Columns of `people` without the key. */
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

const changedGroups = Object.entries<FieldGroup>(personFieldGroups)
  .filter(([, group]) => group.inContacts)
  .map(([name, group]) => {
    const of = (alias: string): string =>
      Object.keys(group.columns)
        .map((column) => `${alias}.${column}`)
        .join(', ');
    return `case when row(${of('was')}) is distinct from row(${of('v')}) then '${name}' end`;
  });

/** Functions that append to the log, and compute the current state of people, companies and contacts from it. */
export const projectionFunctions = [
  `create aggregate enrichment.merge(jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}')`,
  `create function enrichment.whole(value jsonb) returns integer language sql immutable parallel safe as $$
    select case when jsonb_typeof(value) = 'number' and value::numeric between 0 and 2147483647
        and value::numeric = trunc(value::numeric)
      then value::numeric::integer end
  $$`,

  // Everybody whose current values depend on the log of these people and on the matches of these contacts: the people,
  // and all keys of a person who has several.
  `create function enrichment.people_to_project(of_service text, of_people text[], of_sources text[],
      of_contacts text[])
    returns setof text language sql stable as $$
      select unnest(of_people)
      union
      select unnest(c.person_keys)
      from unnest(of_people) as p (person_key)
      cross join lateral (
        select service, person_keys from enrichment.contacts where person_keys @> array[p.person_key] offset 0
      ) c
      where c.service = of_service
      union
      select unnest(m.person_keys)
      from unnest(of_sources, of_contacts) as g (source, contact_id)
      cross join lateral (
        select service, person_keys from enrichment.contact_matches
        where source = g.source and contact_id = g.contact_id and person_keys is not null
        offset 0
      ) m
      where m.service = of_service
  $$`,

  // Locks contacts before people and people before companies, each in the order of their keys, so that two writers
  // cannot deadlock. Also locks the person whom a contact was before, so that the change feed has changes in order.
  `create function enrichment.lock_log(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns void language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(1, key) from (
        select distinct hashtext(source || ' ' || contact_id) as key
        from unnest(of_sources, of_contacts) as g (source, contact_id) order by key
      ) keys;
      perform pg_advisory_xact_lock(2, key) from (
        select hashtext(of_service || ' ' || person_key) as key
        from enrichment.people_to_project(of_service, of_people, of_sources, of_contacts) as person_key
        union
        select hashtext(c.service || ' ' || c.person_key)
        from unnest(of_sources, of_contacts) as g (source, contact_id)
        join enrichment.contacts c on c.source = g.source and c.contact_id = g.contact_id
        order by key
      ) keys;
    end
  $$`,

  projectOrganizations,

  peopleAt,

  // Returns the keys of the people that it wrote or removed.
  `create function enrichment.project_people(of_service text, keys text[])
    returns setof text language plpgsql as $$
    begin
      return query with current_facts as materialized (
        select * from enrichment.people_at(of_service, keys, 'infinity')
      ), gone as (
        delete from enrichment.people p
        where p.ctid = any(array(
          select g.ctid
          from (select unnest(keys) except select c.person_key from current_facts c) as k (person_key)
          cross join lateral (
            select ctid from enrichment.people where service = of_service and person_key = k.person_key offset 0
          ) g
        ))
        returning p.person_key
      ), written as (
        insert into enrichment.people as p (service, person_key, ${written.join(', ')})
        select of_service, c.person_key, ${values.join(', ')},
          c.organization_key, c.emails, c.phones, coalesce(c.facts -> 'employment', '[]'), c.said_by,
          c.asked_at, c.run_id, c.attempt_id
        from current_facts c
        order by c.person_key
        on conflict (service, person_key) do update set ${assignments(written)}
        where ${rowOf('p', written)} is distinct from ${rowOf('excluded', written)}
        returning p.person_key
      )
      select person_key from gone
      union all
      select person_key from written;
    end
  $$`,

  // The newest decision about each contact counts. A contact whose newest decision names no person has no person.
  // Returns the written and removed contacts: the source, a space and the id.
  `create function enrichment.project_contacts(of_sources text[], of_contacts text[])
    returns setof text language plpgsql as $$
    begin
      return query with decided as materialized (
        select distinct on (o.source, o.contact_id) o.*
        from (select distinct * from unnest(of_sources, of_contacts) as g (source, contact_id)) g
        join enrichment.contact_matches o on o.source = g.source and o.contact_id = g.contact_id
        where ${isValidMatch('o')}
        order by o.source, o.contact_id, o.decided_at desc, o.match_id desc
      ), gone as (
        -- "except", because "not exists" would compare each contact with each decision.
        delete from enrichment.contacts c
        using (
          select source, contact_id from unnest(of_sources, of_contacts) as g (source, contact_id)
          except
          select source, contact_id from decided where person_key is not null
        ) g
        where c.source = g.source and c.contact_id = g.contact_id
        returning c.source, c.contact_id
      ), written as (
        insert into enrichment.contacts as c (source, contact_id, ${contactWritten.join(', ')})
        select source, contact_id, ${contactWritten.join(', ')}
        from decided where person_key is not null
        order by source, contact_id
        on conflict (source, contact_id) do update set ${assignments(contactWritten)}
        where ${rowOf('c', contactWritten)} is distinct from ${rowOf('excluded', contactWritten)}
        returning c.source, c.contact_id
      )
      select source || ' ' || contact_id from gone
      union all
      select source || ' ' || contact_id from written;
    end
  $$`,

  // Compares the contacts before and afterwards, so that the feed has each change once, whatever caused it. Returns the
  // written and removed people and contacts.
  `create function enrichment.compute_projections(of_service text, of_people text[], of_sources text[],
      of_contacts text[])
    returns text[] language plpgsql as $$
    declare
      differing text[];
      projected_people text[] := array(
        select enrichment.people_to_project(of_service, of_people, of_sources, of_contacts));
      touched_sources text[];
      touched_contacts text[];
      before enrichment.enriched_contacts[];
    begin
      -- The caller has locked these keys, unless another transaction has given a person a further key since then.
      if exists (
        select from (select unnest(projected_people) except select unnest(of_people)) as p (person_key)
        where not pg_try_advisory_xact_lock(2, hashtext(of_service || ' ' || p.person_key))
      ) then
        raise exception 'another transaction writes about the same person' using errcode = '40001';
      end if;
      select coalesce(array_agg(source), '{}'), coalesce(array_agg(contact_id), '{}')
      into touched_sources, touched_contacts
      from (
        select c.source, c.contact_id
        from unnest(projected_people) as p (person_key)
        cross join lateral (
          select source, contact_id from enrichment.contacts
          where service = of_service and person_key = p.person_key
          offset 0
        ) c
        union
        select * from unnest(of_sources, of_contacts)
      ) touched;
      select array_agg(v) into before
      from unnest(touched_sources, touched_contacts) as g (source, contact_id)
      join enrichment.enriched_contacts v on v.source = g.source and v.contact_id = g.contact_id;

      -- Contacts first: they tell which keys a person has.
      differing := array(select enrichment.project_contacts(of_sources, of_contacts));
      differing := differing || array(select enrichment.project_people(of_service, projected_people));
      perform enrichment.project_organizations(of_service, array(
        select distinct o.organization_key
        from unnest(of_people) as p (person_key)
        cross join lateral (
          select organization_key from enrichment.observations
          where service = of_service and person_key = p.person_key
          offset 0
        ) o
        where o.organization_key !~ '^name:'), false);
      perform enrichment.queue_for_prune(of_service, of_people);

      with changed as materialized (
        select case when v.source is null then 'delete' else 'upsert' end as operation, g.source, g.contact_id,
          array_remove(array[${changedGroups.join(',\n            ')}], null) as field_groups
        from unnest(touched_sources, touched_contacts) as g (source, contact_id)
        left join unnest(before) as was on was.source = g.source and was.contact_id = g.contact_id
        left join enrichment.enriched_contacts v on v.source = g.source and v.contact_id = g.contact_id
        where was.* is distinct from v.*
      ), overtaken as (
        -- A later transaction has changed the contact first. Readers wait for this transaction, so they have not read
        -- that change, and this transaction's change replaces it.
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
      return differing;
    end
  $$`,

  // For the people of one answer, planning takes longer than the work. So the plans are kept, and use indexes only: a
  // plan from the time when the tables were small read all people for each answer (82 ms instead of 1 ms). For many
  // people, such plans are slow: 28 s for 332 people of a new warehouse, instead of 0.2 s with custom plans.
  `create function enrichment.project_few(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns text[] language plpgsql
    ${keptPlans}
    as $$
    begin
      return enrichment.compute_projections(of_service, of_people, of_sources, of_contacts);
    end
  $$`,
  `create function enrichment.project_many(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns text[] language plpgsql
    set plan_cache_mode = force_custom_plan
    as $$
    begin
      return enrichment.compute_projections(of_service, of_people, of_sources, of_contacts);
    end
  $$`,
  `create function enrichment.project(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns text[] language plpgsql as $$
    begin
      if cardinality(of_people) + cardinality(of_contacts) > 20 then
        return enrichment.project_many(of_service, of_people, of_sources, of_contacts);
      end if;
      return enrichment.project_few(of_service, of_people, of_sources, of_contacts);
    end
  $$`,
  appendToLog,
];
