/** What a run does where a budget has no credits left: end, with the rest over budget, or wait for credits. */
export type BudgetPolicy = 'finish' | 'pause';

/**
 * What a run does where this budget is empty.
 *
 * Where its owner said nothing, its own budget ends it: that is a word on the whole run. A day's or a month's budget is
 * about the pace of all runs, and fills up again: the run waits for it.
 *
 * @param budgetId as in the table `budgets`
 * @param policy what the owner of the run said, for every budget
 */
export function policyOf(budgetId: string, policy: BudgetPolicy | null): BudgetPolicy {
  return policy ?? (budgetId.startsWith('run:') ? 'finish' : 'pause');
}
