import { isDate } from '../text/moment.ts';

/** A budget that ends by itself, or one that every day or month begins with. */
export type BudgetName =
  | { readonly kind: 'run'; readonly runId: string }
  /** `2026-11-21`, UTC; undefined: the present one. */
  | { readonly kind: 'day'; readonly date: string | undefined }
  /** `2026-11`, UTC; undefined: the present one. */
  | { readonly kind: 'month'; readonly month: string | undefined };

/**
 * Reads the name of a budget: `run:ID`, `day`, `month`, `day:2026-11-21`, `month:2026-11`.
 *
 * @returns undefined where the text is none
 */
export function parseBudgetName(text: string): BudgetName | undefined {
  if (text === 'day') return { kind: 'day', date: undefined };
  if (text === 'month') return { kind: 'month', month: undefined };
  const [, kind, name = ''] = /^(run|day|month):(.+)$/.exec(text) ?? [];
  if (kind === 'run') return { kind, runId: name };
  if (kind === 'day' && isDate(name)) return { kind, date: name };
  if (kind === 'month' && /^\d{4}-\d{2}$/.test(name) && isDate(`${name}-01`)) return { kind, month: name };
  return undefined;
}

/**
 * When the period of a budget is over and the next one begins.
 *
 * @param budgetId as in the table `budgets`
 * @returns undefined for a run's own budget: it has no period
 */
export function endOfPeriod(budgetId: string): Date | undefined {
  const name = parseBudgetName(budgetId);
  if (name?.kind === 'day' && name.date !== undefined)
    return new Date(Date.parse(`${name.date}T00:00:00Z`) + 86_400_000);
  if (name?.kind !== 'month' || name.month === undefined) return undefined;
  // Months are counted from 0 here: that of the name is the next one.
  return new Date(Date.UTC(Number(name.month.slice(0, 4)), Number(name.month.slice(5)), 1));
}
