import { isDate } from '../text/format.ts';
import type { Credits } from './decimal.ts';

/** How the periods of a budget are named and follow each other. */
interface Period {
  /** Format of the period's name for PostgreSQL's `to_char`. Names sort by time. */
  readonly format: string;
  readonly example: string;
  /** Returns the first day of a period as `2026-11-01`. For an invalid name, the result is not a valid date. */
  readonly firstDay: (name: string) => string;
  /** Returns the start of the next period. @param start midnight of the first day */
  readonly next: (start: Date) => Date;
}

/** Periods with a budget, in UTC, such as `day` with MAX_CREDITS_PER_DAY and budgets `day:2026-11-21`. */
export const budgetPeriods = {
  day: {
    format: 'YYYY-MM-DD',
    example: '2026-11-21',
    firstDay: (name) => name,
    next: (start) => new Date(start.getTime() + 86_400_000),
  },
  month: {
    format: 'YYYY-MM',
    example: '2026-11',
    firstDay: (name) => `${name}-01`,
    next: (start) => new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)),
  },
} as const satisfies Readonly<Record<string, Period>>;

export type BudgetPeriod = keyof typeof budgetPeriods;

/** Limits for each period in the settings of a process; undefined: no limit. */
export type PeriodLimits = { readonly [Name in BudgetPeriod]?: Credits | undefined };

export type PeriodSetting = `MAX_CREDITS_PER_${Uppercase<BudgetPeriod>}`;

export const budgetPeriodNames = Object.keys(budgetPeriods) as readonly BudgetPeriod[];

/** Name of the setting that limits each period: `MAX_CREDITS_PER_DAY`. */
export function settingOfBudgetPeriod(period: BudgetPeriod): PeriodSetting {
  return `MAX_CREDITS_PER_${period.toUpperCase() as Uppercase<BudgetPeriod>}`;
}

/** The accepted forms of budget names, for help texts and errors. */
export const budgetNameForms = [
  'run:ID',
  ...budgetPeriodNames,
  ...budgetPeriodNames.map((period) => `${period}:${budgetPeriods[period].example}`),
].join(', ');

/** Returns the start of a period, such as `2026-11-21`, in UTC; undefined if the name is not valid. */
function startOfPeriod(period: BudgetPeriod, name: string): Date | undefined {
  const day = budgetPeriods[period].firstDay(name);
  return isDate(day) ? new Date(`${day}T00:00:00Z`) : undefined;
}

export type BudgetName =
  | { readonly kind: 'run'; readonly runId: string }
  /** A budget of a day or month. `name` is `2026-11-21` for a day; undefined means the current period. */
  | { readonly kind: 'period'; readonly period: BudgetPeriod; readonly name: string | undefined };

/** Reads `run:ID`, `day`, `month`, `day:2026-11-21` or `month:2026-11`; undefined for any other text. */
export function parseBudgetName(text: string): BudgetName | undefined {
  const [, kind, name] = /^(\w+)(?::(.+))?$/.exec(text) ?? [];
  if (kind === 'run') return name === undefined ? undefined : { kind, runId: name };
  const period = budgetPeriodNames.find((each) => each === kind);
  if (period === undefined) return undefined;
  if (name !== undefined && startOfPeriod(period, name) === undefined) return undefined;
  return { kind: 'period', period, name };
}

/** Id of the budget of a run in table `budgets`: `run:ID`. */
export function budgetIdOfRun(runId: string): string {
  return `run:${runId}`;
}

/** Whether a budget id is that of a run, not of a day or month. */
export function isRunBudgetId(budgetId: string): boolean {
  return parseBudgetName(budgetId)?.kind === 'run';
}

/** The end of a budget's period, which is the start of the next; undefined for a run's budget. */
export function endOfPeriod(budgetId: string): Date | undefined {
  const budget = parseBudgetName(budgetId);
  if (budget?.kind !== 'period' || budget.name === undefined) return undefined;
  const start = startOfPeriod(budget.period, budget.name);
  return start && budgetPeriods[budget.period].next(start);
}

/** What a run does without credits: finish with rows `over_budget`, or pause until there are credits. */
export type BudgetPolicy = 'finish' | 'pause';

/**
 * What a run does without credits, if the operator has not chosen: its own budget, which limits the whole run, ends it.
 * The budget of a day or month pauses it, because it refills.
 */
export function exhaustionPolicyOf(budgetId: string, policy: BudgetPolicy | null): BudgetPolicy {
  return policy ?? (isRunBudgetId(budgetId) ? 'finish' : 'pause');
}
