import { sql, type Kysely } from 'kysely';
import { anyOf } from '../../db/one-of.ts';
import type { Tables } from '../../db/schema.ts';
import { creditedStatuses } from '../../domain/late-results/delivery-status.ts';
import type { Waste } from '../report-types.ts';

/** Reads a run's credits without a result, by kind. Kinds without credits are left out. */
export async function readWaste(database: Kysely<Tables>, runId: string): Promise<Waste[]> {
  const found = await sql<Waste>`
    with written as (
      select distinct attempt_id, person_id
      from attempt_people
      where run_id = ${runId} and outcome = 'enriched' and person_id is not null
    ), answers as (
      -- Each person of an answer costs the same share of its price.
      select a.attempt_id, a.found_ids, a.admitted_at, coalesce(q.people, 0) as unwritten,
        a.credits_answered
          / greatest(1, cardinality(a.found_ids), coalesce(w.people, 0) + coalesce(q.people, 0)) as share
      from attempts a
      left join (select attempt_id, count(*) as people from written group by attempt_id) w using (attempt_id)
      left join (
        select attempt_id, count(*) as people
        from quarantined_people
        join attempts using (attempt_id)
        where run_id = ${runId}
        group by attempt_id
      ) q using (attempt_id)
      where a.run_id = ${runId} and a.credits_answered > 0
    ), answered_people as (
      select share, row_number() over (partition by person_id order by admitted_at, a.attempt_id) as nth_answer
      from answers a
      cross join unnest(found_ids) as person_id
      join written using (attempt_id, person_id)
    ), orphaned_subjects as (
      select max(d.credits) as credits
      from webhook_deliveries d
      join attempts a using (attempt_id)
      where d.run_id = ${runId}
        and d.subject is not null
        and d.status in (${anyOf(creditedStatuses)})
        and a.credits_settled > 0
      group by d.attempt_id, d.subject
      having bool_and(d.status = 'orphaned')
    ), wasted as (
      select 1 as position, 'no_contact' as kind, sum(unwritten) as count, sum(unwritten * share) as credits
      from answers
      union all
      select 2, 'answered_again', count(*), sum(share)
      from answered_people
      where nth_answer > 1
      union all
      select 3, 'no_answer', sum(people), sum(credits_settled)
      from attempts
      where run_id = ${runId} and answered_at is null and credits_settled > 0
      union all
      select 4, 'orphaned_delivery', count(*), sum(credits)
      from orphaned_subjects
      where credits > 0
    )
    select kind, count::int as count, trim_scale(round(coalesce(credits, 0), 6))::text as credits
    from wasted
    where count > 0
    order by position
  `.execute(database);
  return found.rows;
}
