import type { BudgetResolution } from '../contract/activities.ts';
import { needsResume } from '../contract/pause-reasons.ts';
import { endOfPeriod, exhaustionPolicyOf } from '../domain/money/budget-periods.ts';
import { formatCount } from '../domain/text/format.ts';
import { pricedRequestOf, worstCaseCredits } from '../domain/money/credit-rules.ts';
import { formatCredits } from '../domain/money/decimal.ts';
import { openBudgetsOfRun, readRemainingBudgets } from '../ledger/credit-ledger.ts';
import type { Warehouse } from '../db/database.ts';
import { readDatabaseClock } from '../db/expressions.ts';
import { getRun } from './runs.ts';

/**
 * A run that waits for credits checks again after this time. Only commands that change a budget wake it, but credits
 * also become free by late results of other runs, by decisions about calls, and by new workers with a higher budget.
 */
const longestWaitMilliseconds = 3_600_000;

/**
 * Decides what a run does if its credits cannot pay for one more person: continue, end, or wait for a budget. If
 * several budgets are empty, one whose policy is `finish` ends the run.
 */
export async function resolveBudgetExhaustion(
  warehouse: Warehouse,
  runId: string,
): Promise<BudgetResolution> {
  const { database } = warehouse;
  const { options, status, pauseReason } = await getRun(warehouse, runId);
  // The run was paused for another reason in the meantime, and a budget does not end that pause.
  if (status === 'paused' && pauseReason && needsResume(pauseReason))
    return { kind: 'wait', milliseconds: null, pauseReason };
  const perPerson = worstCaseCredits(pricedRequestOf(options));
  const rests = await readRemainingBudgets(database, await openBudgetsOfRun(database, runId));
  const empty = rests.filter(({ available }) => available < perPerson).map(({ budgetId }) => budgetId);
  if (empty.length === 0) return { kind: 'open' };
  const last = empty.find((budgetId) => exhaustionPolicyOf(budgetId, options.onBudget) === 'finish');
  if (last !== undefined) return { kind: 'finish', budget: last };

  const now = await readDatabaseClock(database);
  const ends = empty.map(endOfPeriod);
  // The budget of a run has no period that could end, so only the operator can raise it.
  const until = ends.includes(undefined)
    ? undefined
    : new Date(Math.max(...ends.map((end) => end?.getTime() ?? 0)));
  const latest = until === undefined ? '' : `, at ${until.toISOString()} at the latest`;
  return {
    kind: 'wait',
    milliseconds: Math.min(
      longestWaitMilliseconds,
      until === undefined ? Number.POSITIVE_INFINITY : Math.max(1_000, until.getTime() - now.getTime()),
    ),
    pauseReason: {
      type: 'budget.empty',
      reason:
        `${empty.join(' and ')} ${empty.length === 1 ? 'has' : 'have'} less than ` +
        `${formatCount(formatCredits(perPerson), 'credit')} left, the price of one person: a worker continues the ` +
        `run when the budget has credits again${latest}`,
      // The command that raises the budget prints whether the run continues automatically.
      next: empty.map((budgetId) => `enrich budget set ${budgetId} N`).join('; '),
      budgets: empty,
    },
  };
}
