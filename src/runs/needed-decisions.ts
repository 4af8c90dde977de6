import type { StatusReason } from '../contract/pause-reasons.ts';
import { counted } from '../domain/text/counted.ts';

/** The next step after a run that left people over budget. */
export const afterOverBudget =
  'raise the budget (--max-credits N; of the day or month: enrich budget set) and repeat the command: ' +
  'it asks only for people who are not fresh (with --freshness 0s, for all people again)';

/** The next step after calls whose answers were lost and whose cost is decided. */
export const afterLostAnswers = 'run the same command again: it asks for these people again';

/** What is wrong with rows whose record id names different people, and what a person can do about it. */
export function contestedRecords(rows: number): { readonly what: string; readonly next: string } {
  return {
    what: `${counted(rows, 'row')} ${rows === 1 ? 'has' : 'have'} a record id that names different people in the file`,
    next: 'correct these record ids in the CRM, and run its new export: this run asks for none of these people',
  };
}

/** The next step after calls of unknown cost. */
export function afterUnknownCalls(runId: string): string {
  return `enrich attempts list ${runId}, then retry or release each`;
}

/**
 * What an ended run leaves to a person: the reasons for exit code 3.
 *
 * @param run.outcomes number of rows per outcome
 * @param run.unknownCredits credits held for calls whose cost is unknown, as decimal text
 * @returns the most urgent first; empty: nothing
 */
export function neededDecisions(run: {
  readonly runId: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly unknownCredits: string;
}): readonly StatusReason[] {
  const decisions: StatusReason[] = [];
  const { over_budget: overBudget = 0, unknown = 0 } = run.outcomes;
  if (run.unknownCredits !== '0')
    decisions.push({
      type: 'calls.unknown',
      reason: `the cost of some calls is unknown; ${counted(run.unknownCredits, 'credit')} stay held for them`,
      next: afterUnknownCalls(run.runId),
    });
  else if (unknown > 0)
    decisions.push({
      type: 'answers.lost',
      reason: `the answers for ${counted(unknown, 'row')} were lost; the cost of their calls is decided`,
      next: afterLostAnswers,
    });
  if (overBudget > 0)
    decisions.push({
      type: 'budget.empty',
      reason: `the budget had no credits left for ${counted(overBudget, 'row')}`,
      next: afterOverBudget,
    });
  return decisions;
}
