import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { formatCredits, parseCredits, type Credits } from '../domain/decimal.ts';
import type { Tables } from '../warehouse/tables.ts';

/** The limits of one run, day or month; undefined is "no limit", and its use is counted all the same. */
export interface BudgetLimits {
  readonly perDay: Credits | undefined;
  readonly perMonth: Credits | undefined;
}

export interface Affordable {
  /** How many of the people asked for the budgets hold. */
  readonly people: number;
  /** The budget that holds the fewest, where not all of them fit. */
  readonly shortBudget: string | undefined;
}

/**
 * Locks every budget that applies, in ascending order of name (so that two admissions cannot wait for one another), and
 * reserves the worst case for as many people as fit. Summing first and inserting later would overspend under parallel
 * admissions: 1,000 became 1,107 with 400 of them.
 *
 * @param limits of this process: they hold beside those that are stored, whichever is lower, so that no other process can
 *   lift them
 * @param perPerson the most that one person can cost
 * @returns how many were reserved for; nothing is reserved where that is 0
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
  let affordable: Affordable = { people, shortBudget: undefined };
  for (const row of locked.rows) {
    const fits = row.available === null ? people : peopleThatFit(row.available, perPerson, people);
    if (fits < affordable.people) affordable = { people: fits, shortBudget: row.budget_id };
  }
  if (affordable.people > 0) {
    await sql`
      update budgets set reserved = reserved + ${formatCredits(perPerson * BigInt(affordable.people))}::numeric
      where budget_id = any(${budgetIds}::text[])
    `.execute(transaction);
  }
  return affordable;
}

/**
 * Makes sure that the budgets of a run (where there is one), of today and of this month exist; days and months are UTC by the
 * database's clock. A budget that exists keeps its limit.
 *
 * @returns their names, ascending
 */
export async function budgetsOf(
  database: Kysely<Tables>,
  runId: string | undefined,
  limits: BudgetLimits,
): Promise<readonly string[]> {
  const result = await sql<{ budget_id: string }>`
    with applying (budget_id, credits_limit) as (
      select 'run:' || ${runId ?? null}::text, null::numeric where ${runId !== undefined}
      union all values
        (to_char(clock_timestamp() at time zone 'UTC', '"day:"YYYY-MM-DD'), ${numeric(limits.perDay)}::numeric),
        (to_char(clock_timestamp() at time zone 'UTC', '"month:"YYYY-MM'), ${numeric(limits.perMonth)}::numeric)
    ), added as (
      insert into budgets (budget_id, credits_limit)
      select budget_id, credits_limit from applying where not exists (select 1 from budgets b where b.budget_id = applying.budget_id)
      on conflict do nothing
    )
    select budget_id from applying order by budget_id
  `.execute(database);
  return result.rows.map((row) => row.budget_id);
}

/** Sets the limit of a run's own budget; undefined is "no limit". */
export async function setRunBudget(
  database: Kysely<Tables>,
  runId: string,
  limit: Credits | undefined,
): Promise<void> {
  await sql`
    insert into budgets (budget_id, credits_limit) values (${`run:${runId}`}, ${numeric(limit)}::numeric)
    on conflict (budget_id) do update set credits_limit = excluded.credits_limit
  `.execute(database);
}

/**
 * Applies the configured limits to the day and month that have begun already: a changed setting holds at once. A limit that
 * this process does not have leaves the stored one alone: another process may have set it, and nobody asked to lift it.
 */
export async function applyBudgetLimits(database: Kysely<Tables>, limits: BudgetLimits): Promise<void> {
  await sql`
    insert into budgets (budget_id, credits_limit)
    select * from (values
      (to_char(clock_timestamp() at time zone 'UTC', '"day:"YYYY-MM-DD'), ${numeric(limits.perDay)}::numeric),
      (to_char(clock_timestamp() at time zone 'UTC', '"month:"YYYY-MM'), ${numeric(limits.perMonth)}::numeric)
    ) as own (budget_id, credits_limit) where credits_limit is not null
    on conflict (budget_id) do update set credits_limit = excluded.credits_limit
      where budgets.credits_limit is distinct from excluded.credits_limit
  `.execute(database);
}

/** The limit that holds for a row of `budgets`, in SQL: the lower one of what is stored and what this process was given. */
function limitOf({ perDay, perMonth }: BudgetLimits): RawBuilder<unknown> {
  return sql`least(credits_limit, case when budget_id like 'day:%' then ${numeric(perDay)}::numeric
    when budget_id like 'month:%' then ${numeric(perMonth)}::numeric end)`;
}

/** True while calls in the air hold credits of a budget that may yet come back to it. */
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
  // A limit that was lowered below what is spent leaves a negative rest, which parseCredits refuses.
  const rest = parseCredits(available) ?? 0n;
  const fits = rest / perPerson;
  return fits > BigInt(people) ? people : Number(fits);
}

function numeric(value: Credits | undefined): string | null {
  return value === undefined ? null : formatCredits(value);
}

/** The budget with the least left, among those that have a limit. */
export async function tightestBudget(
  database: Kysely<Tables>,
  budgetIds: readonly string[],
  limits: BudgetLimits,
): Promise<{ budgetId: string; available: Credits } | undefined> {
  const result = await sql<{ budget_id: string; available: string }>`
    select budget_id, greatest(${limitOf(limits)} - reserved - settled, 0)::text as available from budgets
    where budget_id = any(${budgetIds}::text[]) and ${limitOf(limits)} is not null
    order by ${limitOf(limits)} - reserved - settled limit 1
  `.execute(database);
  const row = result.rows[0];
  return row && { budgetId: row.budget_id, available: parseCredits(row.available) ?? 0n };
}

/** How the budgets of the current day and month stand, by the database's clock; one that nothing was asked of yet is empty. */
export interface PeriodBudget {
  readonly period: 'day' | 'month';
  /** Decimals as text; null: no limit. */
  readonly limit: string | null;
  readonly reserved: string;
  readonly settled: string;
}

/** @param limits of this process: they hold beside those that are stored, whichever is lower */
export async function readPeriodBudgets(
  database: Kysely<Tables>,
  limits: BudgetLimits,
): Promise<readonly PeriodBudget[]> {
  const result = await sql<PeriodBudget>`
    select period, trim_scale(least(credits_limit, own))::text as "limit",
      trim_scale(coalesce(reserved, 0))::text as reserved, trim_scale(coalesce(settled, 0))::text as settled
    from (values
      ('day', to_char(clock_timestamp() at time zone 'UTC', '"day:"YYYY-MM-DD'), ${numeric(limits.perDay)}::numeric),
      ('month', to_char(clock_timestamp() at time zone 'UTC', '"month:"YYYY-MM'), ${numeric(limits.perMonth)}::numeric)
    ) as current (period, budget_id, own) left join budgets using (budget_id)
    order by period
  `.execute(database);
  return result.rows;
}
