import { keptPlans } from '../kept-plans.ts';

/** Which people a change of the log affects, and the locks of those who extend the log. */
export const lockLog = [
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
  // By a plan from a small warehouse, a session that goes on for weeks read all contacts for each person.
  `create function enrichment.lock_log(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns void language plpgsql
    ${keptPlans}
    as $$
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
];
