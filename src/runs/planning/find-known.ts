import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { phoneGroups } from '../../domain/late-results/delivery-kinds.ts';
import { amountOfKeys, earlierLookups, type Asked } from './earlier-lookups.ts';

/**
 * Fills `plan_known` with what earlier lookups tell about people, and with people who opted out of calls:
 *
 * - `field_groups`: fields that the call for the person leaves out: fields asked for recently, and phones if the person
 *   opted out of calls;
 * - `asked_at` and `run_id`: the latest of the recent lookups;
 * - `found_before`: whether an earlier call found the person, or was billed for another; null: no call asked.
 *
 * A lookup for one row of a person holds for the person.
 */
export async function findKnown(transaction: Transaction<Tables>, asked: Asked): Promise<void> {
  const phones = asked.fieldGroups.filter((group) => phoneGroups.includes(group));
  await sql`
    create temporary table plan_known on commit drop as
    select row_number,
      coalesce(array_agg(distinct field_group) filter (where is_left_out), '{}') as field_groups,
      max(asked_at) filter (where is_left_out) as asked_at,
      (array_agg(run_id order by asked_at desc nulls last) filter (where is_left_out))[1] as run_id,
      bool_or(coalesce(found, true)) filter (where field_group = 'profile') as found_before
    from (
      select coalesce(p.first_row, m.row_number) as row_number, m.field_group, m.is_fresh as is_left_out, m.found,
        m.asked_at, a.run_id
      from ${earlierLookups(asked, sql`plan_keys`, await amountOfKeys(transaction, 'plan_keys'))}
      left join plan_people p on p.row_number = m.row_number
      union all
      select row_number, unnest(${phones}::text[]), true, null, null, null from plan_opted_out_of_calls
    ) known
    group by row_number
  `.execute(transaction);
}
