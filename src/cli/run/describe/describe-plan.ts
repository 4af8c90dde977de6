import type { PlanSummary } from '../../../contract/plan-summary.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import { counted, countedPeople } from '../../../domain/text/counted.ts';
import { inOrderOfOutcomes } from '../../../domain/runs/outcome.ts';
import { formatElapsed } from '../../../domain/text/duration.ts';
import type { RunOptions } from '../../../domain/runs/run-options.ts';
import { table } from '../../terminal/output.ts';
import { typedFlags } from '../../run-options/read-run-options.ts';
import { isBudgetOfRun } from '../../../domain/money/budget-name.ts';

/**
 * Formats a plan for the person who approves it. The minimum and the worst case are exact; expected credits are an
 * estimate.
 *
 * @param options of the planned run
 */
export function describePlan(plan: PlanSummary, options: RunOptions): string {
  const lines = [
    `plan ${plan.planHash}`,
    table([
      ['rows in the file', plan.rows],
      plan.withEmail !== null && ['  with an e-mail address', plan.withEmail],
      ...Object.entries(inOrderOfOutcomes(plan.dropped)).map(([outcome, rows]): [string, number] => [
        // Only --only cancels rows before there is a run.
        `  not asked for: ${outcome === 'cancelled' ? 'left out by --only' : outcome}`,
        rows,
      ]),
      plan.filled > 0 && ['contacts filled without a call, at most', plan.filled],
      ['people to ask for', plan.people],
      plan.peopleWithoutPhones > 0 && ['  opted out of calls: no phone', plan.peopleWithoutPhones],
      ['calls, up to ten people each', plan.calls],
      ['credits, at least', formatNumber(plan.credits.minimum)],
      ['credits, expected', formatNumber(plan.credits.expected)],
      ['credits, worst case', formatNumber(plan.credits.worstCase)],
    ]),
    ...(plan.people > 0 ? [describeExpectation(plan)] : []),
    table([
      ['time', `about ${formatElapsed(plan.etaSeconds)}, within ${plan.rateLimits}`],
      ...typedFlags(options).map((flag, index): [string, string] => [index === 0 ? 'options' : '', flag]),
    ]),
  ];
  if (plan.rows === 0) lines.push(noRows);
  if (plan.filled > 0)
    lines.push(
      '  contacts filled without a call get the data of a person who is already paid for, at no cost',
    );
  if (plan.inPausedRuns) lines.push(`  ${plan.inPausedRuns.reason}`, `  next: ${plan.inPausedRuns.next}`);
  lines.push(...plan.unmet.map((unmet) => `  not as expected: ${unmet}`));
  if (plan.pilot) {
    lines.push(
      plan.pilot.people === plan.people
        ? '  the pilot has all people of the plan'
        : `  a pilot of ${countedPeople(plan.pilot.people)} comes first; its results decide about the others`,
    );
  }
  if (plan.asksUnknownAgain) {
    lines.push(
      '  a call whose answer is lost is made once more (--on-unknown retry): the worst case counts everybody twice,',
      '  and there may be twice as many calls',
    );
  }
  if (plan.foundBefore > 0 && options.reveal.length + options.waterfall.length > 0)
    lines.push(
      `  paid for by an earlier run, and paid for again: ${countedPeople(plan.foundBefore)}, because the record is`,
      '  no longer fresh, or because phones or addresses come only together with the record',
    );
  if (plan.shortBudget) lines.push(...describeShortBudget(plan, plan.shortBudget));
  return lines.join('\n');
}

/** The question with which a person approves a plan. */
export function approvalQuestion({ credits, shortBudget }: PlanSummary): string {
  // A run that pauses can spend more once the budget is raised.
  const most = shortBudget?.onEmpty === 'finish' ? shortBudget.available : credits.worstCase;
  if (Number(most) <= 0) return 'run this plan? It makes no call and costs nothing';
  return `spend up to ${counted(most, 'credit')}?`;
}

function describeExpectation({ credits, expectation }: PlanSummary): string {
  const { low, high, calls, source, assumption } = expectation;
  const of = source === null ? 'all sources' : source;
  const basis = assumption ?? `as the latest ${counted(calls, 'call')} of ${of} cost`;
  return `  expected ${whole(credits.expected)}, between ${whole(low)} and ${whole(high)}: ${basis}`;
}

/** Rounds expected credits: an estimate is not exact to a tenth of a credit. */
export function whole(credits: string): string {
  return formatNumber(Number(credits) < 100 ? credits : Math.round(Number(credits)));
}

function describeShortBudget(
  { credits, people }: PlanSummary,
  shortBudget: NonNullable<PlanSummary['shortBudget']>,
): string[] {
  const [available, expected] = [Number(shortBudget.available), Number(credits.expected)];
  if (available <= 0)
    return [
      `  ${nameOf(shortBudget)} has no credits left: the run fills contacts of people who are known, then`,
      `  ${withoutCredits(shortBudget)}`,
    ];
  const enough = Math.floor((people * available) / expected);
  const [what, forWhom] =
    expected > available
      ? ['expected credits exceed', ` for about ${formatNumber(enough)} of ${countedPeople(people)}`]
      : ['worst case exceeds', ''];
  return [
    `  the ${what} ${nameOf(shortBudget)}, which has ` +
      `${formatNumber(shortBudget.available)} left${forWhom}:`,
    whereEmpty(shortBudget),
  ];
}

/** The own budget of a run is named by its flag: `enrich plan` shows it, and begins no run. */
function nameOf({ budget }: NonNullable<PlanSummary['shortBudget']>): string {
  return isBudgetOfRun(budget) ? 'the limit of the run (--max-credits)' : `budget ${budget}`;
}

function withoutCredits(shortBudget: NonNullable<PlanSummary['shortBudget']>): string {
  return shortBudget.onEmpty === 'finish'
    ? 'ends without a call; all other people become over_budget, and a later run asks for them'
    : `pauses before its first call ${untilRaised(shortBudget)}`;
}

function whereEmpty(shortBudget: NonNullable<PlanSummary['shortBudget']>): string {
  return shortBudget.onEmpty === 'finish'
    ? '  people who do not fit become over_budget; a later run asks for them'
    : `  when the budget is empty, the run pauses ${untilRaised(shortBudget)}`;
}

function untilRaised({ budget }: NonNullable<PlanSummary['shortBudget']>): string {
  return isBudgetOfRun(budget)
    ? 'until the budget is raised'
    : 'until the budget is raised or its next period begins (--on-budget finish: it ends)';
}

/** Of an export without rows. */
export const noRows = '  the file has a header and no rows: there are no people to ask for';
