import { isValidMatch } from '../../../valid-entries.ts';
import { assignments, rowOf } from '../assignments.ts';

/** Columns of `contacts` without the key. */
const written = ['service', 'person_key', 'match_id', 'evidence', 'asked', 'run_id', 'row_number'];

/**
 * Writes `contacts`. The newest decision about each contact counts. A contact whose newest decision names no person has
 * no person. Returns the written and removed contacts: the source, a space and the id.
 */
export const projectContacts = `
create function enrichment.project_contacts(of_sources text[], of_contacts text[])
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
      insert into enrichment.contacts as c (source, contact_id, ${written.join(', ')})
      select source, contact_id, ${written.join(', ')}
      from decided where person_key is not null
      order by source, contact_id
      on conflict (source, contact_id) do update set ${assignments(written)}
      where ${rowOf('c', written)} is distinct from ${rowOf('excluded', written)}
      returning c.source, c.contact_id
    )
    select source || ' ' || contact_id from gone
    union all
    select source || ' ' || contact_id from written;
  end
$$`;
