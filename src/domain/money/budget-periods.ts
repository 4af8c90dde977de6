import { isDate } from '../text/moment.ts';
import type { Credits } from './decimal.ts';

interface Period {
  /** Format of the period's name for PostgreSQL's `to_char`. Names sort by time. */
  readonly format: string;
  readonly example: string;
  /** The first day of a period by its name, `2026-11-01`; for an invalid name, no calendar date. */
  readonly firstDay: (name: string) => string;
  /** @param start midnight of the first day */
  readonly next: (start: Date) => Date;
}

/**
 * Periods with a budget, in UTC. `day` has the setting MAX_CREDITS_PER_DAY and budgets such as
 * `day:2026-11-21`.
 */
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

/** Limits of a process's settings for each period; undefined: no limit. */
export type PeriodLimits = { readonly [Name in BudgetPeriod]?: Credits | undefined };

export type PeriodSetting = `MAX_CREDITS_PER_${Uppercase<BudgetPeriod>}`;

export const periodNames = Object.keys(budgetPeriods) as readonly BudgetPeriod[];

/** The setting of a period: `MAX_CREDITS_PER_DAY`. */
export function settingOfPeriod(period: BudgetPeriod): PeriodSetting {
  return `MAX_CREDITS_PER_${period.toUpperCase() as Uppercase<BudgetPeriod>}`;
}

/** Names of default budgets, the limits of every new day and month: `every-day`. */
export const defaultBudgetNames = periodNames.map((period) => `every-${period}` as const);

/** The forms of budget names, for help and errors. */
export const budgetNameForms = [
  'run:ID',
  ...periodNames,
  ...periodNames.map((period) => `${period}:${budgetPeriods[period].example}`),
].join(', ');

/**
 * The start of a period.
 *
 * @returns midnight of its first day in UTC; undefined if the period has no such name
 */
export function startOfPeriod(period: BudgetPeriod, name: string): Date | undefined {
  const day = budgetPeriods[period].firstDay(name);
  return isDate(day) ? new Date(`${day}T00:00:00Z`) : undefined;
}
