/** A budget has used so much of its limit. Credits are decimals as text. */
export interface BudgetAlarm {
  readonly budgetId: string;
  /** The threshold, in percent of the limit; 100 also where the limit held people back. */
  readonly percent: number;
  readonly limit: string;
  /** Settled and reserved when it was crossed. */
  readonly used: string;
}

/** The alarm as a line of a log. */
export function describeAlarm({ budgetId, percent, used, limit }: BudgetAlarm): string {
  return `budget ${budgetId} has used ${percent} % of its limit: ${used} of ${limit} credits are settled or reserved`;
}
