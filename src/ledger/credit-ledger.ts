import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import {
  periodNames,
  budgetOfRun,
  type BudgetPeriod,
  type PeriodLimits,
} from '../domain/money/budget-periods.ts';
import { formatCredits, storedCredits, type Credits } from '../domain/money/decimal.ts';
import type { Tables } from '../db/schema.ts';

/** The limits of a process's settings. Undefined: no limit; the budget still counts what is spent. */
export interface BudgetLimits extends PeriodLimits {
  /** Thresholds of alarms in percent of a limit; undefined: no alarms. */
  readonly alarmsAt?: readonly number[];
}

/** A budget has crossed a threshold of its limit. Credits are decimals as text. */
export interface BudgetAlarm {
  readonly budgetId: string;
  /** Percent of the limit; 100 also if the limit refused a reservation. */
  readonly percent: number;
  readonly limit: string;
  /** Credits that were settled or reserved at that moment. */
  readonly used: string;
}

interface Affordable {
  readonly people: number;
  /** The budget that can pay for the fewest people; undefined if every budget can pay for all. */
  readonly shortBudget: string | undefined;
  readonly alarms: readonly BudgetAlarm[];
}

/**
 * Locks every budget of a call and reserves the worst case for as many people as every budget can pay.
 *
 * @param perPerson worst case for one person
 * @returns for how many people credits are reserved; 0: nothing is reserved
 */
export async function reserve(
  transaction: Transaction<Tables>,
  budgetIds: readonly string[],
  perPerson: Credits,
  people: number,
  alarmsAt: readonly number[] = [],
): Promise<Affordable> {
  const { rows } = await sql<{ people: number; short_budget: string | null; alarms: BudgetAlarm[] }>`
    select people, short_budget, alarms
    from reserve_credits(${budgetIds}::text[], ${formatCredits(perPerson)}::numeric, ${people}::integer,
      ${alarmsAt}::integer[])
  `.execute(transaction);
  const { short_budget: shortBudget, ...affordable } = rows[0]!;
  return { ...affordable, shortBudget: shortBudget ?? undefined };
}

/**
 * Creates the budgets of a run and of the present periods if they are missing. Periods are UTC by the database's clock.
 * A new budget gets the default that an operator has set for its period, or else the limit of the worker that started
 * last.
 *
 * @param runId undefined: a call without a run
 * @returns the ids of the budgets, ascending
 */
export async function budgetsOf(
  database: Kysely<Tables>,
  runId: string | undefined,
): Promise<readonly string[]> {
  const { rows } = await sql<{ budgets: string[] }>`
    select open_budgets(${runId ?? null}) as budgets
  `.execute(database);
  return rows[0]!.budgets;
}

/** SQL: the limits of a process, as a relation of `period` and `credits_limit`. */
function limitsOf(limits: BudgetLimits): RawBuilder<unknown> {
  const texts = periodNames.map((period) => {
    const limit = limits[period];
    return limit === undefined ? null : formatCredits(limit);
  });
  return sql`unnest(${periodNames}::text[], ${texts}::numeric[]) as own (period, credits_limit)`;
}

/** Creates the budget of a run, unless an operator has set one by command before. @param limit decimal text */
export async function openRunBudget(
  database: Kysely<Tables>,
  runId: string,
  limit: string | null,
): Promise<void> {
  await database
    .insertInto('budgets')
    .values({ budget_id: budgetOfRun(runId), credits_limit: limit })
    .onConflict((conflict) => conflict.column('budget_id').doNothing())
    .execute();
}

/** Removes the budget of a run that was only planned: nothing was ever reserved in it. */
export async function removeRunBudget(database: Kysely<Tables>, runId: string): Promise<void> {
  await database
    .deleteFrom('budgets')
    .where('budget_id', '=', budgetOfRun(runId))
    .where('reserved', '=', '0')
    .where('settled', '=', '0')
    .execute();
}

/**
 * Records the limits of a worker that starts. They are the limits of all workers in the periods that begin from now on:
 * the first call of a day can be that of a worker with a higher limit.
 */
export async function recordWorkerBudgets(database: Kysely<Tables>, limits: BudgetLimits): Promise<void> {
  await sql`
    insert into worker_budgets (period, credits_limit)
    select period, credits_limit from ${limitsOf(limits)}
    on conflict (period) do update set credits_limit = excluded.credits_limit
  `.execute(database);
}

/**
 * Applies the settings of this process to the present periods, and records each change in `budget_changes`. A limit
 * that an operator has set by command stays. A limit that this process does not have stays as well, because another
 * process may have it.
 *
 * If a setting is below the settled and reserved credits, the limit becomes their sum, so that nothing more is reserved
 * and the budget is not exceeded.
 */
export async function applyBudgetLimits(database: Kysely<Tables>, limits: BudgetLimits): Promise<void> {
  await budgetsOf(database, undefined);
  await sql`
    with own as (select * from present_budgets() join ${limitsOf(limits)} using (period)), before as (
      select budget_id, b.credits_limit as old_limit, greatest(own.credits_limit, settled + reserved) as new_limit
      from budgets b join own using (budget_id)
      where not set_by_command and own.credits_limit is not null
        and greatest(own.credits_limit, settled + reserved) <> coalesce(b.credits_limit, -1)
      order by budget_id for update of b
    ), changed as (
      update budgets b set credits_limit = new_limit from before where b.budget_id = before.budget_id
    )
    insert into budget_changes (budget_id, old_limit, new_limit, changed_by, reason)
    select budget_id, old_limit, new_limit, 'settings',
      'MAX_CREDITS_PER_' || upper(period) || case
        when credits_limit < new_limit then ' is ' || trim_scale(credits_limit) || ', and more is used: spending stops'
        else ''
      end
    from before
    join own using (budget_id)
  `.execute(database);
}

interface BudgetRest {
  readonly budgetId: string;
  readonly available: Credits;
}

/**
 * Reads what is left of the budgets with a limit, the least first.
 *
 * @param limits of a process that plans before a worker has applied its settings
 */
export async function readBudgetRests(
  database: Kysely<Tables>,
  budgetIds: readonly string[],
  limits: BudgetLimits = {},
): Promise<BudgetRest[]> {
  const result = await sql<{ budget_id: string; available: string }>`
    select budget_id, greatest(available, 0)::text as available
    from (
      select budget_id, least(b.credits_limit, case when not set_by_command then own.credits_limit end)
        - reserved - settled as available
      from budgets b
      left join ${limitsOf(limits)} on own.period = split_part(budget_id, ':', 1)
      where budget_id = any(${budgetIds}::text[])
    ) as rests
    where available is not null
    order by rests.available, budget_id
  `.execute(database);
  return result.rows.map((row) => ({
    budgetId: row.budget_id,
    available: storedCredits(row.available),
  }));
}

/**
 * The budget of a present period, by the database's clock. Figures are 0 if no call has reserved from it.
 */
export interface PeriodBudget {
  readonly period: BudgetPeriod;
  /** Decimals as text; null: no limit. */
  readonly limit: string | null;
  readonly reserved: string;
  readonly settled: string;
}

export async function readPeriodBudgets(database: Kysely<Tables>): Promise<readonly PeriodBudget[]> {
  const result = await sql<PeriodBudget>`
    select p.period,
      trim_scale(case
        when b.budget_id is not null then b.credits_limit
        when d.period is not null then d.credits_limit
        else w.credits_limit
      end)::text as "limit",
      trim_scale(coalesce(b.reserved, 0))::text as reserved, trim_scale(coalesce(b.settled, 0))::text as settled
    from present_budgets() p
    left join budgets b using (budget_id)
    left join default_budgets d using (period)
    left join worker_budgets w using (period)
    order by period
  `.execute(database);
  return result.rows;
}
