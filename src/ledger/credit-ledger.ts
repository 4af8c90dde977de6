import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import {
  budgetPeriods,
  periodNames,
  type BudgetPeriod,
  type PeriodLimits,
} from '../domain/money/budget-periods.ts';
import { formatCredits, parseCredits, type Credits } from '../domain/money/decimal.ts';
import type { Tables } from '../db/schema.ts';
import type { BudgetAlarm } from './budget-alarms.ts';

/** The limits of a process's settings. Undefined: no limit; the budget still counts what is spent. */
export interface BudgetLimits extends PeriodLimits {
  /** Thresholds of alarms in percent of a limit; undefined: no alarms. */
  readonly alarmsAt?: readonly number[];
}

export interface Affordable {
  /** How many people every budget can pay. */
  readonly people: number;
  /** The budget that can pay for the fewest people; undefined if every budget can pay for all. */
  readonly shortBudget: string | undefined;
  /** Thresholds that this reservation crossed for the first time. */
  readonly alarms: readonly BudgetAlarm[];
}

/**
 * Locks every budget of a call and reserves the worst case for as many people as every budget can pay.
 *
 * Budgets are locked in ascending order of name, so that two admissions cannot wait for each other. Adding up first and
 * inserting later would overspend: with 400 parallel admissions a budget of 1,000 credits came to 1,107.
 *
 * @param limits of this process; the lower of this limit and the stored one counts, unless an operator has set the
 *   stored one by command
 * @param perPerson worst case for one person
 * @returns for how many people credits are reserved; 0: nothing is reserved
 */
export async function reserve(
  transaction: Transaction<Tables>,
  budgetIds: readonly string[],
  limits: BudgetLimits,
  perPerson: Credits,
  people: number,
): Promise<Affordable> {
  const locked = await sql<{ budget_id: string; available: string | null }>`
    select budget_id, (${limitOf(limits)} - reserved - settled)::text as available
    from budgets where budget_id = any(${budgetIds}::text[]) order by budget_id for update
  `.execute(transaction);
  if (locked.rows.length !== budgetIds.length) throw new Error('a budget of an admission does not exist');
  let fit: Pick<Affordable, 'people' | 'shortBudget'> = { people, shortBudget: undefined };
  for (const row of locked.rows) {
    const fits = row.available === null ? people : peopleThatFit(row.available, perPerson, people);
    if (fits < fit.people) fit = { people: fits, shortBudget: row.budget_id };
  }
  const alarms = await sql<BudgetAlarm>`
    with spending as (
      update budgets set reserved = reserved + ${formatCredits(perPerson * BigInt(fit.people))}::numeric
      where budget_id = any(${budgetIds}::text[])
      returning budget_id, settled + reserved as used, ${limitOf(limits)} as credits_limit
    )
    insert into budget_alarms (budget_id, percent, credits_limit, used)
    select budget_id, percent, credits_limit, used from spending, unnest(${limits.alarmsAt ?? []}::int[]) as percent
    where credits_limit > 0
      and (used * 100 >= percent * credits_limit or (percent = 100 and budget_id = ${fit.shortBudget ?? null}))
    on conflict do nothing
    returning budget_id as "budgetId", percent,
      trim_scale(credits_limit)::text as "limit",
      trim_scale(used)::text as used
  `.execute(transaction);
  return { ...fit, alarms: alarms.rows };
}

/**
 * Creates the budgets of a run and of the present periods if they are missing. Periods are UTC by the database's clock.
 * A new budget gets the default that an operator has set for its period, or else the limit of the settings.
 *
 * @param runId undefined: a call without a run
 * @returns the ids of the budgets, ascending
 */
export async function budgetsOf(
  database: Kysely<Tables>,
  runId: string | undefined,
  limits: BudgetLimits,
): Promise<readonly string[]> {
  const result = await sql<{ budget_id: string }>`
    with applying (budget_id, period, credits_limit) as (
      select 'run:' || ${runId ?? null}::text, null, null::numeric where ${runId !== undefined}
      union all ${presentPeriods(limits)}
    ), added as (
      insert into budgets (budget_id, credits_limit, set_by_command)
      select a.budget_id, case when s.period is null then a.credits_limit else s.credits_limit end, s.period is not null
      from applying a left join default_budgets s using (period)
      where not exists (select 1 from budgets b where b.budget_id = a.budget_id)
      on conflict do nothing
    )
    select budget_id from applying order by budget_id
  `.execute(database);
  return result.rows.map((row) => row.budget_id);
}

/** Creates the budget of a run, unless an operator has set one by command before. */
export async function openRunBudget(
  database: Kysely<Tables>,
  runId: string,
  limit: Credits | undefined,
): Promise<void> {
  await sql`
    insert into budgets (budget_id, credits_limit) values (${`run:${runId}`}, ${numeric(limit)}::numeric)
    on conflict (budget_id) do nothing
  `.execute(database);
}

/** Removes the budget of a run that was only planned: nothing was ever reserved in it. */
export async function removeRunBudget(database: Kysely<Tables>, runId: string): Promise<void> {
  await sql`
    delete from budgets where budget_id = ${`run:${runId}`} and reserved = 0 and settled = 0
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
  await budgetsOf(database, undefined, limits);
  await sql`
    with own (budget_id, period, credits_limit) as (${presentPeriods(limits)}), before as (
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

/** The budget of each present period with this process's limit, as rows of SQL. */
function presentPeriods(limits: BudgetLimits): RawBuilder<unknown> {
  const rows = periodNames.map(
    (period) => sql`(${presentBudgetId(period)}, ${sql.lit(period)}, ${numeric(limits[period])}::numeric)`,
  );
  return sql`values ${sql.join(rows)}`;
}

/**
 * The limit of a row of `budgets`, in SQL: the limit that an operator has set by command, or else the lower of the
 * stored limit and this process's limit.
 */
function limitOf(limits: BudgetLimits): RawBuilder<unknown> {
  const own = periodNames.map(
    (period) => sql`when ${sql.lit(period)} then ${numeric(limits[period])}::numeric`,
  );
  return sql`case when set_by_command then credits_limit else
    least(credits_limit, case split_part(budget_id, ':', 1) ${sql.join(own, sql` `)} end) end`;
}

/** The id of a period's present budget, by the database's clock, in SQL. */
export function presentBudgetId(period: BudgetPeriod): RawBuilder<string> {
  const format = `"${period}:"${budgetPeriods[period].format}`;
  return sql<string>`to_char(clock_timestamp() at time zone 'UTC', ${sql.lit(format)})`;
}

/** Returns whether a call in flight may still release credits of a budget. */
export async function mayFreeCredits(database: Kysely<Tables>, budgetId: string): Promise<boolean> {
  const result = await sql<{ pending: boolean }>`
    select exists (
      select 1 from attempts a join rate_calls c on c.call_id = a.attempt_id
      where a.status = 'admitted' and ${budgetId} = any(a.budget_ids) and c.counted_until > clock_timestamp()
    ) as pending
  `.execute(database);
  return result.rows[0]?.pending ?? false;
}

function peopleThatFit(available: string, perPerson: Credits, people: number): number {
  if (perPerson === 0n) return people;
  // A process with a lower limit than the spent credits reads a negative number, which parseCredits refuses.
  const rest = parseCredits(available) ?? 0n;
  const fits = rest / perPerson;
  return fits > BigInt(people) ? people : Number(fits);
}

function numeric(value: Credits | undefined): string | null {
  return value === undefined ? null : formatCredits(value);
}

/** A budget with a limit, and the credits that it can still reserve. */
export interface BudgetRest {
  readonly budgetId: string;
  readonly available: Credits;
}

/** Reads what is left of the budgets with a limit, the least first. */
export async function readBudgetRests(
  database: Kysely<Tables>,
  budgetIds: readonly string[],
  limits: BudgetLimits,
): Promise<BudgetRest[]> {
  const result = await sql<{ budget_id: string; available: string }>`
    select budget_id, greatest(${limitOf(limits)} - reserved - settled, 0)::text as available
    from budgets
    where budget_id = any(${budgetIds}::text[]) and ${limitOf(limits)} is not null
    order by ${limitOf(limits)} - reserved - settled, budget_id
  `.execute(database);
  return result.rows.map((row) => ({
    budgetId: row.budget_id,
    available: parseCredits(row.available) ?? 0n,
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

/** Reads the budgets of the present periods. @param limits of this process, as for `reserve` */
export async function readPeriodBudgets(
  database: Kysely<Tables>,
  limits: BudgetLimits,
): Promise<readonly PeriodBudget[]> {
  const result = await sql<PeriodBudget>`
    select period, trim_scale(case when b.set_by_command then b.credits_limit
        when b.budget_id is null and s.period is not null then s.credits_limit
        else least(b.credits_limit, own) end)::text as "limit",
      trim_scale(coalesce(reserved, 0))::text as reserved, trim_scale(coalesce(settled, 0))::text as settled
    from (${presentPeriods(limits)}) as current (budget_id, period, own)
    left join budgets b using (budget_id) left join default_budgets s using (period)
    order by period
  `.execute(database);
  return result.rows;
}
