import { deliveryKindNames, type DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import { creditedStatuses } from '../../domain/late-results/delivery-status.ts';
import { anyOf } from '../../db/one-of.ts';
import { holdingStatuses } from '../../domain/money/attempt-status.ts';
import { sql, type Kysely } from 'kysely';
import type { RunRecord } from '../../runs/runs.ts';
import type { Tables } from '../../db/schema.ts';
import type { ReportedCredits, Waste } from '../report-types.ts';

/** The amounts of a run's attempts, as decimals. */
interface Sums {
  readonly settled: string;
  readonly records: string;
  readonly delivered: Readonly<Record<DeliveryKind, string>>;
  readonly decided: string;
  readonly held: string;
  readonly inFlight: string;
  readonly awaiting: string;
  readonly unknown: string;
}

/**
 * Reads a run's settled credits by kind, and its held credits.
 *
 * The parts are taken from the settled sum one after another, so that they add up to it after any decision of an
 * operator: first the answer's credits, then those of each kind of deliveries (the highest of bodies with one subject).
 * The rest is the operator's decision.
 */
export async function readCredits(database: Kysely<Tables>, run: RunRecord): Promise<ReportedCredits> {
  const found = await sql<Sums>`
    with booked as (
      select attempt_id, status, credits_reserved as reserved, coalesce(credits_settled, 0) as settled,
        least(coalesce(credits_settled, 0), coalesce(credits_answered, 0)) as records
      from attempts
      where run_id = ${run.runId}
    ), highest as (
      select attempt_id, split_part(subject, ':', 1) as kind, coalesce(max(credits), 0) as credits
      from webhook_deliveries
      where run_id = ${run.runId}
        and subject is not null
        and status in (${anyOf(creditedStatuses)})
      group by attempt_id, subject
    ), billed as (
      select attempt_id, kind, sum(credits) as credits, sum(sum(credits)) over in_order as until_kind
      from highest
      group by attempt_id, kind
      window in_order as (partition by attempt_id order by array_position(${deliveryKindNames}::text[], kind))
    ), delivered as (
      select kind, least(settled - records, until_kind) - least(settled - records, until_kind - credits) as credits
      from billed
      join booked using (attempt_id)
    )
    select ${total(sql`settled`)} as settled, ${total(sql`records`)} as records,
      (
        select jsonb_object_agg(kind, (select ${total(sql`credits`)} from delivered d where d.kind = k.kind))
        from unnest(${deliveryKindNames}::text[]) as k (kind)
      ) as delivered,
      trim_scale(coalesce(sum(settled - records), 0) - (select coalesce(sum(credits), 0) from delivered))::text
        as decided,
      ${total(sql`reserved`, sql`status in (${anyOf(holdingStatuses)})`)} as held,
      ${total(sql`reserved`, sql`status = 'admitted'`)} as "inFlight",
      ${total(sql`reserved`, sql`status = 'awaiting'`)} as awaiting,
      ${total(sql`reserved`, sql`status = 'unknown'`)} as unknown
    from booked
  `.execute(database);
  const budgets = await sql<ReportedCredits['budgets'][number]>`
    select budget_id as budget, trim_scale(credits_limit)::text as "limit", trim_scale(settled)::text as settled,
      trim_scale(reserved)::text as reserved
    from budgets
    where budget_id in (select unnest(budget_ids) from attempts where run_id = ${run.runId})
    order by split_part(budget_id, ':', 1) <> 'run', budget_id
  `.execute(database);
  const sums = found.rows[0]!;
  return {
    settled: {
      total: sums.settled,
      records: sums.records,
      ...sums.delivered,
      decided: sums.decided,
    },
    held: {
      total: sums.held,
      in_flight: sums.inFlight,
      awaiting: sums.awaiting,
      unknown: sums.unknown,
    },
    planned: run.plan && {
      low: run.plan.expectation.low,
      high: run.plan.expectation.high,
      minimum: run.plan.credits.minimum,
      expected: run.plan.credits.expected,
      worst_case: run.plan.credits.worstCase,
    },
    budgets: budgets.rows,
  };
}

function total(amount: ReturnType<typeof sql>, where = sql`true`): ReturnType<typeof sql> {
  return sql`trim_scale(coalesce(sum(${amount}) filter (where ${where}), 0))::text`;
}

/** Reads a run's credits without a result, by kind. Kinds without credits are left out. */
export async function readWaste(database: Kysely<Tables>, runId: string): Promise<Waste[]> {
  const found = await sql<Waste>`
    with written as (
      select distinct p.attempt_id, p.person_id
      from attempt_people p
      where p.run_id = ${runId} and p.outcome = 'enriched' and p.person_id is not null
    ), people as (
      select attempt_id, sum(written) as written, sum(unwritten) as unwritten
      from (
        select attempt_id, 1 as written, 0 as unwritten
        from written
        union all
        select attempt_id, 0, 1
        from quarantined_people
        join attempts using (attempt_id)
        where run_id = ${runId}
      ) each
      group by attempt_id
    ), answers as (
      select a.attempt_id, a.found_ids, a.admitted_at, coalesce(p.unwritten, 0) as unwritten,
        a.credits_answered / greatest(1, cardinality(a.found_ids), p.written + p.unwritten) as share
      from attempts a
      left join people p using (attempt_id)
      where a.run_id = ${runId} and a.credits_answered > 0
    ), returned as (
      select share, row_number() over (partition by person_id order by admitted_at, a.attempt_id) as time
      from answers a
      cross join unnest(found_ids) as person_id
      join written using (attempt_id, person_id)
    ), subjects as (
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
      from returned
      where time > 1
      union all
      select 3, 'no_answer', sum(people), sum(credits_settled)
      from attempts
      where run_id = ${runId} and answered_at is null and credits_settled > 0
      union all
      select 4, 'orphaned_delivery', count(*), sum(credits)
      from subjects
      where credits > 0
    )
    select kind, count::int as count, trim_scale(round(coalesce(credits, 0), 6))::text as credits
    from wasted
    where count > 0
    order by position
  `.execute(database);
  return found.rows;
}
