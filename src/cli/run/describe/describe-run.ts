import { minuteOf } from '../../../domain/text/minute-of.ts';
import type { Cancelled, RunFacts, Undone } from '../../../contract/run-facts.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import { counted } from '../../../domain/text/counted.ts';
import { describeInRange } from '../../../domain/money/credit-rules.ts';
import { outcomesThatNeedAPerson } from '../../../domain/runs/outcome.ts';
import { exitCodes } from '../../../domain/problem.ts';
import { peopleOfPausedRun } from '../../../runs/people-of-paused-runs.ts';
import { neededDecisions } from '../../../runs/needed-decisions.ts';
import { describeAskedService } from '../../../domain/runs/asked-service.ts';
import { table } from '../../terminal/output.ts';
import { noRows, whole } from './describe-plan.ts';

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
  const hasLate = late.awaited + late.expired + deliveriesOf(late) > 0;
  return table([
    ...Object.entries(outcomes).map(([outcome, rows]): [string, number] => [
      facts.status === 'failed' && outcome === 'open' ? 'not asked for' : outcome,
      rows,
    ]),
    ['rows', rowsOf(facts)],
    facts.filled > 0 && ['contacts filled without a call', facts.filled],
    ['calls', facts.calls],
    ['credits settled', formatNumber(credits.settled)],
    ['credits reserved', formatNumber(credits.reserved)],
    ['credits unknown', formatNumber(credits.unknown)],
    ...(hasLate
      ? [
          ['late results awaited, calls', late.awaited],
          ['late results expired, calls', late.expired],
          ['deliveries applied', late.arrived],
          ['  of them by poll', late.polled],
          ['  of them after the run', late.late],
          ['deliveries for no person', late.orphaned],
          ['deliveries repeated', late.duplicate],
          ['deliveries in quarantine', late.quarantined],
        ]
      : []),
  ]);
}

function deliveriesOf(late: RunFacts['late_results']): number {
  return late.arrived + late.orphaned + late.duplicate + late.quarantined;
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
    notes.push(`  the next poll for late results is due at ${minuteOf(late.next_poll_at)} UTC`);
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
  return `cancelled on ${minuteOf(at)} UTC: ${reason}`;
}

/** `undone on 2026-11-21 09:30 UTC by a person (the wrong file)` */
export function describeUndone({ at, by, reason }: Undone): string {
  return `undone on ${minuteOf(at)} UTC by ${by}${reason === null ? '' : ` (${reason})`}`;
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
  if (facts.reason_type === peopleOfPausedRun) return exitCodes.needsPerson;
  const needsPerson = outcomesThatNeedAPerson.some((outcome) => (facts.outcomes[outcome] ?? 0) > 0);
  return needsPerson ? exitCodes.needsPerson : exitCodes.done;
}
