import { formatNumber } from '../domain/text/format-number.ts';

/** A budget has crossed a threshold of its limit. Credits are decimals as text. */
export interface BudgetAlarm {
  readonly budgetId: string;
  /** Percent of the limit; 100 also if the limit refused a reservation. */
  readonly percent: number;
  readonly limit: string;
  /** Credits that were settled or reserved at that moment. */
  readonly used: string;
}

/** Describes an alarm in one log line. */
export function describeAlarm({ budgetId, percent, used, limit }: BudgetAlarm): string {
  const credits = `${formatNumber(used)} of ${formatNumber(limit)} credits`;
  return `budget ${budgetId} has used ${percent} % of its limit: ${credits} are settled or reserved`;
}
