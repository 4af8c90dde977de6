import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import {
  budgetPeriodNames,
  budgetIdOfRun,
  type BudgetPeriod,
  type PeriodLimits,
} from '../domain/money/budget-periods.ts';
import { formatCredits, parseStoredCredits, type Credits } from '../domain/money/decimal.ts';
import type { Tables } from '../db/schema.ts';
import { UsageProblem, type DecisionNote } from '../domain/problem.ts';
import { formatCount, nounFor } from '../domain/text/format.ts';
import { maySpend } from '../db/run-states.ts';

/** Limits of the budgets in the settings of a process. Undefined: the budget has no limit but still counts credits. */
export interface BudgetLimits extends PeriodLimits {
  /** Percentages of a limit at which alarms are raised; undefined: no alarms. */
  readonly alarmsAt?: readonly number[];
}

/** An alarm: the credits of a budget have crossed a threshold of its limit. Credits are decimals as text. */
export interface BudgetAlarm {
  readonly budgetId: string;
  /** Crossed threshold in percent of the limit. It is also 100 if the limit refused a reservation. */
  readonly percent: number;
  readonly limit: string;
  /** Settled and reserved credits when the alarm was raised. */
  readonly used: string;
}

/** Locks the budgets and reserves the worst case, for as many people as every budget can pay for; 0: nothing. */
export async function reserveCredits(
  transaction: Transaction<Tables>,
  budgetIds: readonly string[],
  perPerson: Credits,
  people: number,
  alarmsAt: readonly number[] = [],
) {
  const { rows } = await sql<{ people: number; shortBudget: string | null; alarms: BudgetAlarm[] }>`
    select people, short_budget as "shortBudget", alarms
    from reserve_credits(${budgetIds}::text[], ${formatCredits(perPerson)}::numeric, ${people}::integer,
      ${alarmsAt}::integer[])
  `.execute(transaction);
  return { ...rows[0]!, shortBudget: rows[0]!.shortBudget ?? undefined };
}

/**
 * Creates missing budgets of a run, if any, and of the current UTC day and month (by the database's clock), with the
 * limits of the worker that started last. @returns their ids, ascending, in the order in which budgets are locked
 */
export async function openBudgetsOfRun(
  database: Kysely<Tables>,
  runId: string | undefined,
): Promise<readonly string[]> {
  const { rows } = await sql<{ budgets: string[] }>`
    select open_budgets(${runId ?? null}) as budgets
  `.execute(database);
  return rows[0]!.budgets;
}

/** SQL relation with the limits of a process: `period` and `credits_limit`. */
function limitsOf(limits: BudgetLimits): RawBuilder<unknown> {
  const texts = budgetPeriodNames.map((period) => {
    const limit = limits[period];
    return limit === undefined ? null : formatCredits(limit);
  });
  return sql`unnest(${budgetPeriodNames}::text[], ${texts}::numeric[]) as own (period, credits_limit)`;
}

/** Creates a budget, unless it exists, perhaps because the operator has set its limit by command. */
export async function insertBudget(
  database: Kysely<Tables>,
  budgetId: string,
  limit: string | null,
): Promise<void> {
  await sql`
    insert into budgets (budget_id, credits_limit) values (${budgetId}, ${limit}) on conflict do nothing
  `.execute(database);
}

/** Removes the budget of a run that was only planned and therefore never reserved credits. */
export async function removeRunBudget(database: Kysely<Tables>, runId: string): Promise<void> {
  await sql`
    delete from budgets where budget_id = ${budgetIdOfRun(runId)} and reserved = 0 and settled = 0
  `.execute(database);
}

/** Stores the limits of a starting worker, which apply to all later days and months, whichever worker calls first. */
export async function recordWorkerBudgets(database: Kysely<Tables>, limits: BudgetLimits): Promise<void> {
  await sql`
    insert into worker_budgets (period, credits_limit)
    select period, credits_limit from ${limitsOf(limits)}
    on conflict (period) do update set credits_limit = excluded.credits_limit
  `.execute(database);
}

/**
 * Applies this process's limits to the current day and month, but not below the used credits, and records changes.
 * Limits that the operator set by command stay, and so do limits that this process does not set.
 */
export async function applyBudgetLimits(database: Kysely<Tables>, limits: BudgetLimits): Promise<void> {
  await openBudgetsOfRun(database, undefined);
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

/** Reads the unused credits of limited budgets, the lowest first. `limits` count before a worker applies its own. */
export async function readRemainingBudgets(
  database: Kysely<Tables>,
  budgetIds: readonly string[],
  limits: BudgetLimits = {},
) {
  const { rows } = await sql<{ budgetId: string; available: string }>`
    select budget_id as "budgetId", greatest(available, 0)::text as available
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
  return rows.map((row) => ({ ...row, available: parseStoredCredits(row.available) }));
}

/** The budget of the current day or month by the database's clock. Its counts are 0 before the first reservation. */
export interface PeriodBudget {
  readonly period: BudgetPeriod;
  /** Limit as decimal text; null: no limit. */
  readonly limit: string | null;
  readonly reserved: string;
  readonly settled: string;
}

/** Reads the budgets of the current day and month. */
export async function readPeriodBudgets(database: Kysely<Tables>): Promise<readonly PeriodBudget[]> {
  const result = await sql<PeriodBudget>`
    select p.period,
      trim_scale(case when b.budget_id is not null then b.credits_limit else w.credits_limit end)::text as "limit",
      trim_scale(coalesce(b.reserved, 0))::text as reserved, trim_scale(coalesce(b.settled, 0))::text as settled
    from present_budgets() p
    left join budgets b using (budget_id)
    left join worker_budgets w using (period)
    order by period
  `.execute(database);
  return result.rows;
}

/** The operator's limit. `default`: of the settings or the run. `used`: the used credits, so that spending stops. */
export type WantedLimit = Credits | 'none' | 'default' | 'used';

/**
 * Sets the limit of a budget by command, above the settings of all workers. A limit below the used credits is refused,
 * because calls in flight may spend them; a lower default becomes the used credits. Returns the limits before and after
 * as text; null: no limit.
 *
 * @param budgetId as in table `budgets`; a day or month may be in the future
 * @throws Problem `budget.below-used`
 */
export async function setBudget(
  database: Kysely<Tables>,
  budgetId: string,
  wanted: WantedLimit,
  ownDefault: Credits | undefined,
  { by, reason }: DecisionNote,
) {
  return database.transaction().execute(async (transaction) => {
    // Without a command, the limit of the worker that started last counts, or else that of this process.
    const { rows: workers } = await sql<{ limit: string | null }>`
      select trim_scale(credits_limit)::text as "limit"
      from worker_budgets
      where period = split_part(${budgetId}, ':', 1)
    `.execute(transaction);
    const own = ownDefault === undefined ? null : formatCredits(ownDefault);
    const byDefault = workers[0] ? workers[0].limit : own;
    await insertBudget(transaction, budgetId, byDefault);
    const { rows } = await sql<{ before: string | null; used: string; wasByCommand: boolean }>`
      select trim_scale(credits_limit)::text as before, trim_scale(settled + reserved)::text as used,
        set_by_command as "wasByCommand"
      from budgets
      where budget_id = ${budgetId}
      for update
    `.execute(transaction);
    const { before, used, wasByCommand } = rows[0]!;
    const byCommand = wanted !== 'default';
    const limits = { default: byDefault, used, none: null };
    const limit = typeof wanted === 'bigint' ? formatCredits(wanted) : limits[wanted];
    const isBelow = limit !== null && parseStoredCredits(limit) < parseStoredCredits(used);
    if (isBelow && byCommand)
      throw new UsageProblem(
        'budget.below-used',
        `${formatCount(used, 'credit')} of budget ${budgetId} ` +
          `${nounFor(used, 'is', 'are')} settled or reserved already`,
        {
          where: budgetId,
          next: `set at least that limit; to stop spending from this budget: enrich budget set ${budgetId} used`,
        },
      );
    const after = isBelow ? used : limit;
    await sql`
      update budgets set credits_limit = ${after}, set_by_command = ${byCommand} where budget_id = ${budgetId}
    `.execute(transaction);
    if (after !== before || byCommand !== wasByCommand)
      await sql`
        insert into budget_changes (budget_id, old_limit, new_limit, changed_by, reason)
        values (${budgetId}, ${before}, ${after}, ${by}, ${reason ?? null})
      `.execute(transaction);
    return { budgetId, before, after };
  });
}

/** Id of the budget of the current day or month, by the database's clock, such as `day:2026-11-21`. */
export async function currentBudgetId(database: Kysely<Tables>, period: BudgetPeriod): Promise<string> {
  const result = await sql<{ name: string }>`
    select budget_id as name from present_budgets() where period = ${period}
  `.execute(database);
  return result.rows[0]!.name;
}

/** A budget as `enrich budget show` prints it. Credits are decimals as text; null means no limit. */
export interface BudgetFacts {
  readonly budget: string;
  readonly limit: string | null;
  /** Where the limit comes from. `options`: --max-credits, or MAX_CREDITS_PER_RUN of the command that began the run. */
  readonly set_by: 'command' | 'options' | 'settings';
  readonly settled: string;
  readonly reserved: string;
  /** Thresholds of the limit that the credits have crossed, in percent, ascending. */
  readonly alarms: readonly number[];
}

/** A recorded change of a budget's limit. */
interface BudgetChange {
  readonly changed_at: Date;
  readonly budget: string;
  readonly old_limit: string | null;
  readonly new_limit: string | null;
  readonly changed_by: string;
  readonly reason: string | null;
}

/** Reads the newest budgets, at most `maxPerKind` of days, months and runs. A plan without approval has none. */
export async function readBudgets(database: Kysely<Tables>, maxPerKind: number): Promise<BudgetFacts[]> {
  const result = await sql<BudgetFacts>`
    select budget_id as budget, trim_scale(credits_limit)::text as "limit",
      case when set_by_command then 'command' when kind = 'run' then 'options' else 'settings' end as set_by,
      trim_scale(settled)::text as settled, trim_scale(reserved)::text as reserved,
      array(select percent from budget_alarms a where a.budget_id = b.budget_id and a.credits_limit = b.credits_limit
        order by percent) as alarms
    from (
      select budgets.*, kind, row_number() over (
        partition by kind order by runs.created_at desc nulls last, budget_id desc
      ) as age
      from budgets
      cross join lateral split_part(budget_id, ':', 1) as kind
      left join runs on budget_id = 'run:' || run_id
      where runs.run_id is null or ${maySpend}
    ) b
    where age <= ${maxPerKind}
    order by kind, age
  `.execute(database);
  return result.rows;
}

export async function readBudgetHistory(database: Kysely<Tables>, limit: number): Promise<BudgetChange[]> {
  const result = await sql<BudgetChange>`
    select changed_at, budget_id as budget,
      trim_scale(old_limit)::text as old_limit,
      trim_scale(new_limit)::text as new_limit,
      changed_by, reason
    from budget_changes
    order by change_id desc
    limit ${limit}
  `.execute(database);
  return result.rows;
}
