import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { deliveryKindNames, requestsPhones } from '../domain/late-results/delivery-kinds.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { RunRecord } from '../runs/runs.ts';

/** Reads the credits of a run, as decimal text. The views of `run-figures.sql` compute them, for analysts too. */
export async function readCredits(database: Kysely<Tables>, run: RunRecord): Promise<RunReport['credits']> {
  const amount = (name: string) => sql`trim_scale(${sql.ref(name)})::text as ${sql.ref(name)}`;
  const names = [
    'settled',
    'records',
    ...deliveryKindNames,
    'decided',
    'held',
    'in_flight',
    'awaiting',
    'unknown',
  ];
  const found = await sql<Readonly<Record<string, string>>>`
    select ${sql.join(names.map(amount))}
    from run_credits
    where run_id = ${run.runId}
  `.execute(database);
  const budgets = await sql<RunReport['credits']['budgets'][number]>`
    select budget_id as budget, trim_scale(credits_limit)::text as "limit", trim_scale(settled)::text as settled,
      trim_scale(reserved)::text as reserved
    from budgets
    where budget_id in (select unnest(budget_ids) from attempts where run_id = ${run.runId})
    order by split_part(budget_id, ':', 1) <> 'run', budget_id
  `.execute(database);
  const { settled, held, in_flight, awaiting, unknown, ...parts } = found.rows[0]!;
  return {
    settled: { total: settled, ...parts } as RunReport['credits']['settled'],
    held: { total: held, in_flight, awaiting, unknown } as RunReport['credits']['held'],
    planned: run.plan && {
      low: run.plan.expectation.low,
      high: run.plan.expectation.high,
      minimum: run.plan.credits.minimum,
      expected: run.plan.credits.expected,
      worst_case: run.plan.credits.worst_case,
    },
    budgets: budgets.rows,
  };
}

/** Reads the credits of a run that bought no contact or no new answer, by kind. */
export async function readWaste(database: Kysely<Tables>, runId: string): Promise<RunReport['waste']> {
  const { rows } = await sql<RunReport['waste'][number]>`
    select kind, count, trim_scale(credits)::text as credits
    from run_waste
    where run_id = ${runId}
    order by array_position(array['no_contact', 'answered_again', 'no_answer'], kind)
  `.execute(database);
  return rows;
}

/** Reads the cost of each usable field. While credits are only reserved, the cost is null, because 0 would be wrong. */
export async function readCosts(database: Kysely<Tables>, run: RunRecord): Promise<RunReport['costs']> {
  const { rows } = await sql<RunReport['costs'][number]>`
    select f.field, f.count, trim_scale(f.credits)::text as credits,
      case when f.credits > 0 or c.credits_held = 0 then trim_scale(f.each)::text end as each
    from run_costs c
    cross join lateral (
      values ('contact', people, credits_settled, credits_per_person),
        ('verified_email', verified_emails, email_credits, credits_per_verified_email),
        ('phone', phones, phone_credits, credits_per_phone)
    ) as f (field, count, credits, each)
    where c.run_id = ${run.runId} and (f.field <> 'phone' or ${requestsPhones(run.options)})
  `.execute(database);
  return rows;
}

/** Counts the calls by status. `peak`: the most calls in any trailing window of each rate limit. */
export async function readCalls(
  database: Kysely<Tables>,
  runId: string,
  limits: readonly RateLimit[],
): Promise<RunReport['calls']> {
  const { rows } = await sql<{ status: string; calls: number; first_at: Date; last_at: Date }>`
    select status, calls, first_at, last_at from run_calls where run_id = ${runId} order by status
  `.execute(database);
  const sent = rows.filter(({ status }) => status !== 'released');
  const times = sent.flatMap((each) => [each.first_at.toISOString(), each.last_at.toISOString()]).sort();
  const windows: RunReport['calls']['windows'][number][] = [];
  for (const { calls, seconds } of limits) {
    const most = await sql<{ peak: number }>`
      select most_calls(${runId}, make_interval(secs => ${seconds})) as peak
    `.execute(database);
    windows.push({ limit: calls, seconds, peak: most.rows[0]!.peak });
  }
  return {
    by_status: Object.fromEntries(rows.map(({ status, calls }) => [status, calls])),
    first_at: times[0] ?? null,
    last_at: times.at(-1) ?? null,
    windows,
  };
}

/** Counts the late results of a run. Seconds are from the answer of a call to its delivery. */
export async function readLateResults(
  database: Kysely<Tables>,
  runId: string,
): Promise<RunReport['late_results']> {
  const { rows } = await sql<RunReport['late_results']>`
    select awaited, expired, arrived, late, polled, duplicate, quarantined, waiting, median_seconds,
      longest_seconds
    from run_late_results
    where run_id = ${runId}
  `.execute(database);
  return rows[0]!;
}

/** Counts the rows of a run whose contacts lost their person, by reason. */
export async function readLostContacts(
  database: Kysely<Tables>,
  runId: string,
): Promise<RunReport['lost_contacts']> {
  const { rows } = await sql<RunReport['lost_contacts'][number]>`
    select lost_reason as reason, count(*)::int as rows
    from row_results
    where run_id = ${runId} and lost_reason is not null
    group by lost_reason
    order by rows desc, lost_reason
  `.execute(database);
  return rows;
}

/** Counts rows with one record id and different people. */
export async function readContestedRows(database: Kysely<Tables>, runId: string): Promise<number> {
  const { rows } = await sql<{ rows: number }>`
    select count(*)::int as rows from run_rows where run_id = ${runId} and is_contested
  `.execute(database);
  return rows[0]!.rows;
}
