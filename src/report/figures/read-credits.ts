import { deliveryKindNames, type DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import { creditedStatuses } from '../../domain/late-results/delivery-status.ts';
import { anyOf } from '../../db/one-of.ts';
import { holdingStatuses } from '../../domain/money/attempt-status.ts';
import { sql, type Kysely } from 'kysely';
import type { RunRecord } from '../../runs/runs.ts';
import type { Tables } from '../../db/schema.ts';
import type { ReportedCredits } from '../report-types.ts';

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
    with calls as (
      select attempt_id, status, credits_reserved as reserved, settled, records, settled - records as rest
      from attempts
      cross join lateral (select coalesce(credits_settled, 0) as settled) s
      cross join lateral (select least(settled, coalesce(credits_answered, 0)) as records) r
      where run_id = ${run.runId}
    ), subjects as (
      select attempt_id, split_part(subject, ':', 1) as kind, coalesce(max(credits), 0) as credits
      from webhook_deliveries
      where run_id = ${run.runId}
        and subject is not null
        and status in (${anyOf(creditedStatuses)})
      group by attempt_id, subject
    ), billed as (
      select attempt_id, kind, sum(credits) as credits, sum(sum(credits)) over in_order as until_kind
      from subjects
      group by attempt_id, kind
      window in_order as (partition by attempt_id order by array_position(${deliveryKindNames}::text[], kind))
    ), delivered as (
      -- What the kinds up to this one take of the rest, without what the kinds before take.
      select kind, least(rest, until_kind) - least(rest, until_kind - credits) as credits
      from billed
      join calls using (attempt_id)
    )
    select ${total(sql`settled`)} as settled, ${total(sql`records`)} as records,
      (
        select jsonb_object_agg(kind, (select ${total(sql`credits`)} from delivered d where d.kind = k.kind))
        from unnest(${deliveryKindNames}::text[]) as k (kind)
      ) as delivered,
      trim_scale(coalesce(sum(rest), 0) - (select coalesce(sum(credits), 0) from delivered))::text
        as decided,
      ${total(sql`reserved`, sql`status in (${anyOf(holdingStatuses)})`)} as held,
      ${total(sql`reserved`, sql`status = 'admitted'`)} as "inFlight",
      ${total(sql`reserved`, sql`status = 'awaiting'`)} as awaiting,
      ${total(sql`reserved`, sql`status = 'unknown'`)} as unknown
    from calls
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
