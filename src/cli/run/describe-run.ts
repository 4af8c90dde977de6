import type { PlanSummary } from '../../contract/plan-summary.ts';
import type { Cancelled, RunFacts, Undone } from '../../contract/run-facts.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { counted, countedPeople } from '../../domain/text/counted.ts';
import { describeInRange } from '../../domain/money/credit-rules.ts';
import { inOrderOfOutcomes, outcomesThatNeedAPerson } from '../../domain/runs/outcome.ts';
import { exitCodes } from '../../domain/problem.ts';
import { neededDecisions } from '../../runs/needed-decisions.ts';
import { describeAskedService } from '../../domain/runs/asked-service.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import type { RunOptions } from '../../domain/runs/run-options.ts';
import { table } from '../terminal/output.ts';
import { typedFlags } from './run-option-flags.ts';

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
      ...(plan.withEmail === null ? [] : ([['  with an e-mail address', plan.withEmail]] as const)),
      ...Object.entries(inOrderOfOutcomes(plan.dropped)).map(([outcome, rows]): [string, number] => [
        // Only --only cancels rows before there is a run.
        `  not asked for: ${outcome === 'cancelled' ? 'left out by --only' : outcome}`,
        rows,
      ]),
      ...(plan.filled > 0 ? ([['contacts filled without a call, at most', plan.filled]] as const) : []),
      ['people to ask for', plan.people],
      ...(plan.peopleWithoutPhones > 0
        ? ([['  opted out of calls: no phone', plan.peopleWithoutPhones]] as const)
        : []),
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
      `  a call cannot ask for phones or addresses alone: it pays for the record of ${countedPeople(plan.foundBefore)}`,
      `  again, whom an earlier run found`,
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

function compareWithPlan(
  { status, credits, outcomes }: RunFacts,
  { expected, low, high }: NonNullable<RunFacts['expected_credits']>,
): string {
  const isFinal = status === 'finished' && credits.reserved === '0' && credits.unknown === '0';
  // The range is the price of all people of the plan.
  const isWhole = (outcomes.over_budget ?? 0) === 0;
  return (
    `the plan expected ${counted(whole(expected), 'credit')}, between ${whole(low)} and ${whole(high)}` +
    (isFinal && isWhole ? `: the settled credits are ${describeInRange(credits.settled, { low, high })}` : '')
  );
}

/** Rounds expected credits: an estimate is not exact to a tenth of a credit. */
function whole(credits: string): string {
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
      ? ['expected credits do', ` for about ${formatNumber(enough)} of ${countedPeople(people)}`]
      : ['worst case does', ''];
  return [
    `  the ${what} not fit ${nameOf(shortBudget)}, which has ` +
      `${formatNumber(shortBudget.available)} left${forWhom}:`,
    whereEmpty(shortBudget),
  ];
}

/** The own budget of a run is named by its flag: `enrich plan` shows it, and begins no run. */
function nameOf({ budget }: NonNullable<PlanSummary['shortBudget']>): string {
  return budget.startsWith('run:') ? 'its own limit (--max-credits)' : `budget ${budget}`;
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
  return budget.startsWith('run:')
    ? 'until the budget is raised'
    : 'until the budget is raised or its next period begins (--on-budget finish: it ends)';
}

const noRows = '  the file has a header and no rows: there are no people to ask for';

/**
 * Formats the outcomes and figures of a run.
 *
 * @param status shown in place of the stored one, such as `interrupted`
 */
export function describeRun(facts: RunFacts, status: string = facts.status): string {
  return [
    `run ${facts.run_id}: ${status} (${facts.source === null ? '' : `${facts.source}, `}${facts.file})`,
    figuresOf(facts),
    ...notesOf(facts),
    ...nextSteps(facts),
    ...notesOnLateResults(facts),
  ].join('\n');
}

function figuresOf(facts: RunFacts): string {
  const { outcomes, credits, late_results: late } = facts;
  const hasLate = late.awaited + late.expired + late.arrived + late.orphaned > 0;
  return table([
    ...Object.entries(outcomes).map(([outcome, rows]): [string, number] => [
      facts.status === 'failed' && outcome === 'open' ? 'not asked for' : outcome,
      rows,
    ]),
    ['rows', rowsOf(facts)],
    ...(facts.filled > 0 ? ([['contacts filled without a call', facts.filled]] as const) : []),
    ['calls', facts.calls],
    ['credits settled', formatNumber(credits.settled)],
    ['credits reserved', formatNumber(credits.reserved)],
    ['credits unknown', formatNumber(credits.unknown)],
    ...(hasLate
      ? ([
          ['late results awaited, calls', late.awaited],
          ['late results expired, calls', late.expired],
          ['deliveries arrived', late.arrived],
          ['  of them by poll', late.polled],
          ['  of them after the run', late.late],
          ['deliveries for no person', late.orphaned],
        ] as const)
      : []),
  ]);
}

function rowsOf({ outcomes }: RunFacts): number {
  return Object.values(outcomes).reduce((sum, rows) => sum + rows, 0);
}

function notesOf(facts: RunFacts): string[] {
  const notes: string[] = [];
  // A plan without calls has no price to compare.
  if (facts.expected_credits && Number(facts.expected_credits.high) > 0)
    notes.push(`  ${compareWithPlan(facts, facts.expected_credits)}`);
  notes.push(`  service: ${describeAskedService(facts.service)}`);
  const explained = outcomesWithReason.filter((outcome) => facts.outcomes[outcome] !== undefined);
  if (explained.length > 0)
    notes.push(
      `  reasons of rows that are ${explained.join(' or ')}: ${statementOfReasons(facts.run_id, explained)}`,
    );
  if (facts.cancelled && facts.status === 'cancelled') notes.push(`  ${describeCancelled(facts.cancelled)}`);
  if (facts.undone) notes.push(`  ${describeUndone(facts.undone)}; its credits are not refunded`);
  if (facts.status === 'finished' && rowsOf(facts) === 0) notes.push(noRows);
  return notes;
}

/** What a person can or must do next. */
function nextSteps(facts: RunFacts): string[] {
  const { run_id: runId, outcomes, credits } = facts;
  const steps: string[] = [];
  if (facts.status === 'awaiting_approval')
    steps.push(
      `  the plan ${facts.plan_hash ?? ''} waits for your approval; nothing is spent yet`,
      `  next: enrich resume ${runId} approves the plan and continues;`,
      `  enrich cancel ${runId} ends the run`,
    );
  const decisions = neededDecisions({ runId, outcomes, unknownCredits: credits.unknown });
  if (facts.reason !== null && decisions.every(({ type }) => type !== facts.reason_type))
    steps.push(`  ${facts.status}: ${facts.reason}`, `  next: ${facts.next ?? ''}`);
  return [...steps, ...decisions.flatMap(({ reason, next }) => [`  ${reason}`, `  next: ${next}`])];
}

function notesOnLateResults({ late_results: late, credits }: RunFacts): string[] {
  const notes: string[] = [];
  if (late.next_poll_at !== null)
    notes.push(
      `  the next poll for late results is due at ${late.next_poll_at.slice(0, 16).replace('T', ' ')} UTC`,
    );
  if (late.arrived > 0 && late.polled === late.arrived)
    notes.push('  late results came only by poll: for webhooks, the workers need WEBHOOK_PUBLIC_URL');
  if (late.missing !== null) {
    notes.push(`  ${late.missing}`);
    if (credits.reserved !== '0')
      notes.push(
        '  next: workers apply them when they come; to ask the service for them now: enrich inbox sweep',
      );
  }
  return notes;
}

/** A row with such an outcome gets no person, and its reason can show that the columns are wrong. */
const outcomesWithReason = ['identity_mismatch', 'malformed', 'rejected'] as const;

function statementOfReasons(runId: string, outcomes: readonly string[]): string {
  const chosen = `outcome in (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})`;
  return `enrich sql -c "select row_number, outcome, reason from run_rows where run_id = '${runId}' and ${chosen}"`;
}

/** `cancelled on 2026-11-21 09:30 UTC: the wrong file` */
function describeCancelled({ at, reason }: Cancelled): string {
  return `cancelled on ${at.slice(0, 16).replace('T', ' ')} UTC: ${reason}`;
}

/** `undone on 2026-11-21 09:30 UTC by a person (the wrong file)` */
export function describeUndone({ at, by, reason }: Undone): string {
  return `undone on ${at.slice(0, 16).replace('T', ' ')} UTC by ${by}${reason === null ? '' : ` (${reason})`}`;
}

/** Reasons of a failed run that a repetition can overcome. Any other run needs another export or other options. */
const passingReasons: readonly string[] = [
  'export.changed',
  'export.unreachable',
  'export.too-slow',
  'export.unreadable',
];

/** The exit code of a command that reports a run. */
export function exitCodeOf(facts: RunFacts): number {
  if (facts.status === 'failed')
    return facts.reason_type === null || passingReasons.includes(facts.reason_type)
      ? exitCodes.failed
      : exitCodes.usage;
  if (facts.status !== 'finished' && facts.status !== 'cancelled') return exitCodes.needsPerson;
  // Unknown credits need a person's decision, whatever the outcomes of the rows are.
  if (facts.credits.unknown !== '0') return exitCodes.needsPerson;
  const needsPerson = outcomesThatNeedAPerson.some((outcome) => (facts.outcomes[outcome] ?? 0) > 0);
  return needsPerson ? exitCodes.needsPerson : exitCodes.done;
}
