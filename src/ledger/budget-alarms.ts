/** A budget has crossed a threshold of its limit. Credits are decimals as text. */
export interface BudgetAlarm {
  readonly budgetId: string;
  /** Percent of the limit; 100 also if the limit refused a reservation. */
  readonly percent: number;
  readonly limit: string;
  /** Credits that were settled or reserved at that moment. */
  readonly used: string;
}
