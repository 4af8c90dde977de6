import { sql, type Kysely } from 'kysely';
import type { BudgetPeriod } from '../domain/money/budget-periods.ts';
import { decimalText } from '../db/expressions.ts';
import { maySpend } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';

/** A budget as `enrich budget show` shows it. Credits are decimals as text; null: no limit. */
export interface BudgetFacts {
  readonly budget: string;
  readonly limit: string | null;
  /** `options`: of the run, from `--max-credits` or MAX_CREDITS_PER_RUN of the command that began it. */
  readonly set_by: 'command' | 'options' | 'settings';
  readonly settled: string;
  readonly reserved: string;
  /** Crossed thresholds of the present limit in percent, ascending. */
  readonly alarms: readonly number[];
}

/** A change of a limit. `budget` is `every-day` or `every-month` for a changed default. */
export interface BudgetChange {
  readonly changed_at: Date;
  readonly budget: string;
  readonly old_limit: string | null;
  readonly new_limit: string | null;
  readonly changed_by: string;
  readonly reason: string | null;
}

/**
 * Reads the newest budgets of each period and of runs. Plans without approval have no budget. @param ofEach how many
 */
export async function readBudgets(database: Kysely<Tables>, ofEach: number): Promise<BudgetFacts[]> {
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
    where age <= ${ofEach}
    order by kind, age
  `.execute(database);
  return result.rows;
}

/** Reads the defaults that an operator has set; without a default the settings count. */
export async function readDefaultBudgets(
  database: Kysely<Tables>,
): Promise<{ period: BudgetPeriod; limit: string | null }[]> {
  return database
    .selectFrom('default_budgets')
    .select((budget) => ['period', decimalText(budget.ref('credits_limit')).as('limit')])
    .orderBy('period')
    .execute();
}

/** Reads changes of limits, the newest first. */
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
