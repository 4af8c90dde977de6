import { sql, type Kysely, type Transaction } from 'kysely';
import { UsageProblem, type Note, type Problem } from '../domain/problem.ts';
import { counted, nounFor } from '../domain/text/format.ts';
import { formatCredits, storedCredits, type Credits } from '../domain/money/decimal.ts';
import type { BudgetPeriod } from '../domain/money/budget-periods.ts';
import { decimalText } from '../db/expressions.ts';
import type { Tables } from '../db/schema.ts';
import { maySpend } from '../db/run-states.ts';

/**
 * A limit as an operator sets it.
 *
 * - `default`: the default of every day or month, or else the limit of the settings or of the run's options.
 * - `used`: the credits that are settled and reserved now. The budget reserves nothing more until credits are released.
 */
export type WantedLimit = Credits | 'none' | 'default' | 'used';

/** A limit before and after the change; null: no limit. */
export interface LimitChange {
  readonly budgetId: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Sets the limit of one budget by command. After the commit this limit replaces the settings of all workers; no worker
 * needs a restart.
 *
 * A limit below the settled and reserved credits is refused, because reserved credits may be spent by calls in flight.
 * A lower `default` is not refused: the limit becomes the settled and reserved credits.
 *
 * @param budgetId as in the table `budgets`; a day or month may be in the future
 * @param ownDefault the limit without a command: of this process's settings, or of the run's options
 * @param isWanted decides once the budget is locked; false changes nothing
 * @throws Problem `budget.below-used`
 */
export async function setBudget(
  database: Kysely<Tables>,
  budgetId: string,
  wanted: WantedLimit,
  ownDefault: Credits | undefined,
  note: Note,
  isWanted?: (transaction: Transaction<Tables>) => Promise<boolean>,
): Promise<LimitChange> {
  return database.transaction().execute(async (transaction) => {
    const budget = await lockBudget(transaction, budgetId, ownDefault);
    if (isWanted && !(await isWanted(transaction)))
      return { budgetId, before: budget.limit, after: budget.limit };
    if (wanted === 'default') return writeDefault(transaction, budget, ownDefault, note);
    const limit = wanted === 'used' ? budget.used : textOf(wanted);
    if (isBelow(limit, budget.used)) throw belowUsed(budgetId, budget.used);
    return writeLimit(transaction, budget, { limit, byCommand: true }, note);
  });
}

/**
 * Sets the default limit of every day or month, from the present one on. If the present one has used more, its limit
 * becomes what it has used.
 *
 * @param wanted `default`: the settings of the workers count again
 * @returns the change of the present day or month
 */
export async function setDefaultBudget(
  database: Kysely<Tables>,
  period: BudgetPeriod,
  wanted: Exclude<WantedLimit, 'used'>,
  ownDefault: Credits | undefined,
  note: Note,
): Promise<LimitChange> {
  return database.transaction().execute(async (transaction) => {
    const before = await transaction
      .selectFrom('default_budgets')
      .select((budget) => decimalText(budget.ref('credits_limit')).as('limit'))
      .where('period', '=', period)
      .forUpdate()
      .executeTakeFirst();
    const limit = wanted === 'default' ? null : textOf(wanted);
    if (wanted === 'default') {
      await transaction.deleteFrom('default_budgets').where('period', '=', period).execute();
    } else {
      await transaction
        .insertInto('default_budgets')
        .values({ period, credits_limit: limit })
        .onConflict((conflict) => conflict.column('period').doUpdateSet({ credits_limit: limit }))
        .execute();
    }
    const isKept = (before === undefined) === (wanted === 'default') && (before?.limit ?? null) === limit;
    if (!isKept)
      await noteChange(
        transaction,
        { budgetId: `every-${period}`, before: before?.limit ?? null, after: limit },
        note,
      );

    const present = await presentBudget(transaction, period);
    return writeDefault(transaction, await lockBudget(transaction, present, ownDefault), ownDefault, note);
  });
}

/** The default is read under the lock of the budget: another command may have changed it until then. */
async function writeDefault(
  transaction: Transaction<Tables>,
  budget: LockedBudget,
  ownDefault: Credits | undefined,
  note: Note,
): Promise<LimitChange> {
  return writeLimit(transaction, budget, await defaultLimit(transaction, budget.budgetId, ownDefault), note);
}

/** Writes a limit, at least the used credits. A command that changes nothing leaves no entry in the history. */
async function writeLimit(
  transaction: Transaction<Tables>,
  { budgetId, limit: before, byCommand: wasByCommand, used }: LockedBudget,
  { limit: wanted, byCommand }: Limit,
  note: Note,
): Promise<LimitChange> {
  const limit = isBelow(wanted, used) ? used : wanted;
  await transaction
    .updateTable('budgets')
    .set({ credits_limit: limit, set_by_command: byCommand })
    .where('budget_id', '=', budgetId)
    .execute();
  const change = { budgetId, before, after: limit };
  if (limit !== before || byCommand !== wasByCommand) await noteChange(transaction, change, note);
  return change;
}

function isBelow(limit: string | null, used: string): boolean {
  return limit !== null && storedCredits(limit) < storedCredits(used);
}

export async function presentBudget(database: Kysely<Tables>, period: BudgetPeriod): Promise<string> {
  const result = await sql<{ name: string }>`
    select budget_id as name from present_budgets() where period = ${period}
  `.execute(database);
  return result.rows[0]!.name;
}

interface Limit {
  readonly limit: string | null;
  /** Whether a command has set it, and no setting. */
  readonly byCommand: boolean;
}

interface LockedBudget extends Limit {
  readonly budgetId: string;
  readonly used: string;
}

/** Locks the row of a budget. A budget that does not exist is created with its default limit. */
async function lockBudget(
  transaction: Transaction<Tables>,
  budgetId: string,
  ownDefault: Credits | undefined,
): Promise<LockedBudget> {
  const { limit, byCommand } = await defaultLimit(transaction, budgetId, ownDefault);
  await transaction
    .insertInto('budgets')
    .values({ budget_id: budgetId, credits_limit: limit, set_by_command: byCommand })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return transaction
    .selectFrom('budgets')
    .select(['budget_id as budgetId', 'set_by_command as byCommand'])
    .select((budget) => decimalText(budget.ref('credits_limit')).as('limit'))
    .select((budget) => decimalText(budget('settled', '+', budget.ref('reserved'))).as('used'))
    .where('budget_id', '=', budgetId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

function textOf(limit: Credits | 'none'): string | null {
  return limit === 'none' ? null : formatCredits(limit);
}

/** The default of every day or month, or else the limit without a command. */
async function defaultLimit(
  transaction: Transaction<Tables>,
  budgetId: string,
  ownDefault: Credits | undefined,
): Promise<Limit> {
  const { rows } = await sql<Limit>`
    select trim_scale(case
        when d.period is not null then d.credits_limit
        when w.period is not null then w.credits_limit
        else ${ownDefault === undefined ? null : formatCredits(ownDefault)}::numeric
      end)::text as "limit",
      d.period is not null as "byCommand"
    from (select split_part(${budgetId}, ':', 1) as period) of_budget
    left join default_budgets d using (period)
    left join worker_budgets w using (period)
  `.execute(transaction);
  return rows[0]!;
}

async function noteChange(
  transaction: Transaction<Tables>,
  { budgetId, before, after }: LimitChange,
  { by, reason }: Note,
): Promise<void> {
  await transaction
    .insertInto('budget_changes')
    .values({ budget_id: budgetId, old_limit: before, new_limit: after, changed_by: by, reason })
    .execute();
}

function belowUsed(budgetId: string, used: string): Problem {
  return new UsageProblem(
    'budget.below-used',
    `${counted(used, 'credit')} of budget ${budgetId} ${nounFor(used, 'is', 'are')} settled or reserved already`,
    {
      where: budgetId,
      next: `set at least that limit; to stop spending from this budget: enrich budget set ${budgetId} used`,
    },
  );
}

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
interface BudgetChange {
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

export async function readDefaultBudgets(
  database: Kysely<Tables>,
): Promise<{ period: BudgetPeriod; limit: string | null }[]> {
  return database
    .selectFrom('default_budgets')
    .select((budget) => ['period', decimalText(budget.ref('credits_limit')).as('limit')])
    .orderBy('period')
    .execute();
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
