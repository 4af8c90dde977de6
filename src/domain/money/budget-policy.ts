import { isBudgetOfRun } from './budget-name.ts';

/**
 * What a run does when a budget is exhausted: finish with the remaining rows as `over_budget`, or pause until
 * credits are available.
 */
export type BudgetPolicy = 'finish' | 'pause';

/**
 * The policy of a run for an exhausted budget.
 *
 * Without a choice of the user, a run's own budget finishes the run, because it limits the whole run. The
 * budget of a period limits the pace of all runs and refills, so it pauses the run.
 *
 * @param budgetId as in the table `budgets`
 * @param policy the user's choice for every budget; null: none
 */
export function policyOf(budgetId: string, policy: BudgetPolicy | null): BudgetPolicy {
  return policy ?? (isBudgetOfRun(budgetId) ? 'finish' : 'pause');
}
