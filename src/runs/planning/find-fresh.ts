import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { phoneGroups } from '../../domain/late-results/delivery-kinds.ts';
import { amountOfKeys, earlierLookups, type Asked } from './earlier-lookups.ts';

/**
 * Fills `plan_lookups` with the earlier lookups of each person, and `plan_fresh` with the groups of fields that the
 * call leaves out for a person. A lookup for one row holds for the person. A group is left out if it was asked for
 * recently, or if it is phones and the person opted out of calls.
 */
export async function findFresh(transaction: Transaction<Tables>, asked: Asked): Promise<void> {
  const phones = asked.fieldGroups.filter((group) => phoneGroups.includes(group));
  await sql`
    create temporary table plan_lookups on commit drop as
    select coalesce(p.first_row, m.row_number) as row_number, m.field_group, m.found, m.asked_at, m.is_fresh, a.run_id
    from ${earlierLookups(asked, sql`plan_keys`, await amountOfKeys(transaction, 'plan_keys'))}
    left join plan_people p on p.row_number = m.row_number
  `.execute(transaction);
  await sql`
    create temporary table plan_fresh on commit drop as
    select row_number, array_agg(distinct field_group) as field_groups, max(asked_at) as asked_at,
      (array_agg(run_id order by asked_at desc nulls last))[1] as run_id
    from (
      select row_number, field_group, asked_at, run_id from plan_lookups where is_fresh
      union all
      select row_number, unnest(${phones}::text[]), null, null from plan_opted_out_of_calls
    ) known
    group by row_number
  `.execute(transaction);
}
