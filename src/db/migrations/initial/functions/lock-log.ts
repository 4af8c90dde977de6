import { keptPlans } from '../kept-plans.ts';

/** Which people a change of the log affects, and the locks of those who extend the log. */
export const lockLog = [
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
        from unnest(of_people) as person_key
        union
        select hashtext(c.service || ' ' || c.person_key)
        from unnest(of_sources, of_contacts) as g (source, contact_id)
        join enrichment.contacts c on c.source = g.source and c.contact_id = g.contact_id
        order by key
      ) keys;
    end
  $$`,
];
