import { personColumns } from '../../../../domain/warehouse/person-columns.ts';
import { assignments, rowOf } from '../assignments.ts';
import { textsOf } from '../texts-of.ts';

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

/** Writes `people` from the observations. Returns the keys of the people that it wrote or removed. */
export const projectPeople = `
create function enrichment.project_people(of_service text, keys text[])
  returns setof text language plpgsql as $$
  begin
    return query with current_facts as materialized (
      select * from enrichment.people_at(of_service, keys,
        array_fill('infinity'::timestamptz, array[cardinality(keys)]))
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
$$`;
