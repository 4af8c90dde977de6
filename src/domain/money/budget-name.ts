import { budgetPeriods, periodNames, startOfPeriod, type BudgetPeriod } from './budget-periods.ts';

/** The budget of a run or of a period. */
export type BudgetName =
  | { readonly kind: 'run'; readonly runId: string }
  /** `name` is `2026-11-21` for a day; undefined: the current period. */
  | { readonly kind: 'period'; readonly period: BudgetPeriod; readonly name: string | undefined };

/**
 * Reads the name of a budget: `run:ID`, `day`, `month`, `day:2026-11-21`, `month:2026-11`.
 *
 * @returns undefined for any other text
 */
export function parseBudgetName(text: string): BudgetName | undefined {
  const [, kind, name] = /^(\w+)(?::(.+))?$/.exec(text) ?? [];
  if (kind === 'run') return name === undefined ? undefined : { kind, runId: name };
  const period = periodNames.find((each) => each === kind);
  if (period === undefined) return undefined;
  if (name !== undefined && startOfPeriod(period, name) === undefined) return undefined;
  return { kind: 'period', period, name };
}

/** The id of a run's own budget, as in the table `budgets`. */
export function budgetOfRun(runId: string): string {
  return `run:${runId}`;
}

export function isBudgetOfRun(budgetId: string): boolean {
  return parseBudgetName(budgetId)?.kind === 'run';
}

/**
 * The end of a budget's period, when the next period begins.
 *
 * @param budgetId as in the table `budgets`
 * @returns undefined for a run's budget, which has no period
 */
export function endOfPeriod(budgetId: string): Date | undefined {
  const budget = parseBudgetName(budgetId);
  if (budget?.kind !== 'period' || budget.name === undefined) return undefined;
  const start = startOfPeriod(budget.period, budget.name);
  return start && budgetPeriods[budget.period].next(start);
}
