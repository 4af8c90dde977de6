import { isDate } from '../text/moment.ts';
import type { Credits } from './decimal.ts';

interface Period {
  /** The name of the present period, as a format of PostgreSQL's `to_char`. Names sort by time. */
  readonly format: string;
  readonly example: string;
  /** The first day of a period by its name, `2026-11-01`; no date of the calendar where the text is no name. */
  readonly firstDay: (name: string) => string;
  /** @param start midnight of the first day */
  readonly next: (start: Date) => Date;
}

/** Periods that have a budget each, in UTC: `day` has MAX_CREDITS_PER_DAY, the budgets `day:2026-11-21`, … */
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

/** What a process's settings allow in each period; undefined: no limit. */
export type PeriodLimits = { readonly [Name in BudgetPeriod]?: Credits | undefined };

export type PeriodSetting = `MAX_CREDITS_PER_${Uppercase<BudgetPeriod>}`;

/** Every period once. */
export const periodNames = Object.keys(budgetPeriods) as readonly BudgetPeriod[];

/** `MAX_CREDITS_PER_DAY` */
export function settingOfPeriod(period: BudgetPeriod): PeriodSetting {
  return `MAX_CREDITS_PER_${period.toUpperCase() as Uppercase<BudgetPeriod>}`;
}

/** Names of budgets for help and errors: `run:ID, day, month, day:2026-11-21, month:2026-11`. */
export const budgetNameForms = [
  'run:ID',
  ...periodNames,
  ...periodNames.map((period) => `${period}:${budgetPeriods[period].example}`),
].join(', ');

/** @returns midnight of the first day, or undefined where the text is no name of such a period */
export function startOfPeriod(period: BudgetPeriod, name: string): Date | undefined {
  const day = budgetPeriods[period].firstDay(name);
  return isDate(day) ? new Date(`${day}T00:00:00Z`) : undefined;
}
