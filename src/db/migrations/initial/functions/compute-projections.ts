import { personFieldGroups, type FieldGroup } from '../../../../domain/warehouse/person-columns.ts';
import { keptPlans } from '../kept-plans.ts';

const changedGroups = Object.entries<FieldGroup>(personFieldGroups)
  .filter(([, group]) => group.inContacts)
  .map(([name, group]) => {
    const of = (alias: string): string =>
      Object.keys(group.columns)
        .map((column) => `${alias}.${column}`)
        .join(', ');
    return `case when row(${of('was')}) is distinct from row(${of('v')}) then '${name}' end`;
  });

/** Writes all projections of given people and contacts, and what has changed to the change feed. */
export const computeProjections = [
  // Compares the contacts before and afterwards, so that the feed has each change once, whatever caused it. Returns the
  // written and removed people and contacts.
  `create function enrichment.compute_projections(of_service text, of_people text[], of_sources text[],
      of_contacts text[])
    returns text[] language plpgsql as $$
    declare
      differing text[];
      touched_sources text[];
      touched_contacts text[];
      before enrichment.enriched_contacts[];
    begin
      select coalesce(array_agg(source), '{}'), coalesce(array_agg(contact_id), '{}')
      into touched_sources, touched_contacts
      from (
        select c.source, c.contact_id
        from unnest(of_people) as p (person_key)
        cross join lateral (
          select source, contact_id from enrichment.contacts
          where service = of_service and person_key = p.person_key
          offset 0
        ) c
        union
        select * from unnest(of_sources, of_contacts)
      ) touched;
      -- Here and below, each contact is looked up: in a join, PostgreSQL read all contacts and people for each batch.
      select array_agg(v.contact) into before
      from unnest(touched_sources, touched_contacts) as g (source, contact_id)
      cross join lateral (
        select e as contact from enrichment.enriched_contacts e
        where e.source = g.source and e.contact_id = g.contact_id
        offset 0
      ) v;

      differing := array(select enrichment.project_contacts(of_sources, of_contacts));
      differing := differing || array(select enrichment.project_people(of_service, of_people));
      perform enrichment.project_organizations(of_service, array(
        select distinct o.organization_key
        from unnest(of_people) as p (person_key)
        cross join lateral (
          select organization_key from enrichment.observation_log
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
        left join lateral (
          select * from enrichment.enriched_contacts where source = g.source and contact_id = g.contact_id offset 0
        ) v on true
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
];
