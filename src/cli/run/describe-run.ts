import { figureRows } from '../../contract/figure-rows.ts';
import type { RunFacts, Undone } from '../../contract/run-facts.ts';
import { exitCodes } from '../../domain/problem.ts';
import { counted, minuteOf } from '../../domain/text/format.ts';
import { neededDecisions } from '../../runs/read-run-facts.ts';
import { table } from '../terminal/output.ts';
import { noRows, whole } from './describe-plan.ts';

/** The reason of a run whose plan the operator has not approved at the question of `enrich run`. */
export const notApproved = 'the plan was not approved';

/**
 * Formats the outcomes and figures of a run.
 *
 * @param status shown in place of the stored one, such as `interrupted`
 */
export function describeRun({
  facts,
  status,
}: {
  readonly facts: RunFacts;
  readonly status: string;
}): string {
  return [
    `run ${facts.run_id}: ${status} (${facts.source === null ? '' : `${facts.source}, `}${facts.file})`,
    table(figureRows(facts)),
    ...notesOf(facts),
    ...notesOnLateResults(facts),
    ...nextSteps(facts),
  ].join('\n');
}

function notesOf(facts: RunFacts): string[] {
  const notes: string[] = [];
  const { expected = '0', low = '0', high = '0' } = facts.expected_credits ?? {};
  // A plan without calls has no price to compare.
  if (Number(high) > 0)
    notes.push(
      `  the plan expected ${counted(whole(expected), 'credit')}, between ${whole(low)} and ${whole(high)}`,
    );
  const explained = outcomesWithReason.filter((outcome) => facts.outcomes[outcome] !== undefined);
  if (explained.length > 0)
    notes.push(
      `  reasons of rows that are ${explained.join(' or ')}: enrich sql -c "select row_number, outcome, reason from ` +
        `run_rows where run_id = '${facts.run_id}' and outcome in ('${explained.join("', '")}')"`,
    );
  const { cancelled, status } = facts;
  if (cancelled && status === 'cancelled')
    notes.push(`  cancelled on ${minuteOf(cancelled.at)} UTC: ${cancelled.reason}`);
  if (facts.undone) notes.push(`  ${describeUndone(facts.undone)}; its credits are not refunded`);
  if (facts.status === 'finished' && facts.rows === 0) notes.push(noRows);
  return notes;
}

/** What the operator can or must do next. */
function nextSteps(facts: RunFacts): string[] {
  const { run_id: runId, status, outcomes, credits, reason_type: type } = facts;
  if (status === 'awaiting_approval')
    return [
      `  the plan ${facts.plan_hash ?? ''} waits for your approval; nothing is spent yet`,
      `  next: enrich approve ${runId}; or enrich cancel ${runId}`,
    ];
  const hasEnded = status === 'finished' || status === 'cancelled';
  const decisions =
    hasEnded && type === null ? [] : neededDecisions({ runId, outcomes, unknownCredits: credits.unknown });
  const own =
    facts.reason === null || decisions.some((decision) => decision.type === type)
      ? []
      : [{ reason: facts.reason, next: facts.next ?? '' }];
  const steps = [...own, ...decisions].flatMap(({ reason, next }) => [`  ${reason}`, `  next: ${next}`]);
  if (steps.length > 0 || status !== 'finished' || facts.undone || (outcomes.enriched ?? 0) === 0)
    return steps;
  return [`  next: enrich report ${runId}; enrich export --run ${runId} --output contacts.csv`];
}

function notesOnLateResults({ late_results: late, credits }: RunFacts): string[] {
  const notes: string[] = [];
  if (late.next_poll_at !== null)
    notes.push(`  the next poll for late results is due at ${minuteOf(late.next_poll_at)} UTC`);
  if (late.arrived > 0 && late.polled === late.arrived)
    notes.push('  late results came only by poll: for webhooks, the workers need WEBHOOK_PUBLIC_URL');
  if (late.missing !== null) {
    notes.push(`  ${late.missing}`);
    if (credits.reserved !== '0') notes.push('  workers apply them when they come, and poll for them');
  }
  return notes;
}

/** A row with such an outcome gets no person, and its reason can show that the columns are wrong. */
const outcomesWithReason = ['identity_mismatch', 'malformed', 'rejected'] as const;

/** `undone on 2026-11-21 09:30 UTC by anna (the wrong file)` */
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
export function exitCodeOf({ status, reason_type: type, cancelled }: RunFacts): number {
  if (status === 'failed')
    return type === null || passingReasons.includes(type) ? exitCodes.failed : exitCodes.usage;
  const hasEnded = status === 'finished' || status === 'cancelled';
  if (!hasEnded || type !== null || cancelled?.reason === notApproved) return exitCodes.needsPerson;
  return exitCodes.done;
}
