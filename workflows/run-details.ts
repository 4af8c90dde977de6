import type { LateResultsStatus } from '../src/contract/late-results-status.ts';
import type { RunFacts } from '../src/contract/run-facts.ts';
import { describeAskedService } from '../src/domain/runs/asked-service.ts';
import { outcomes } from '../src/domain/runs/outcome.ts';
import { markdownTable } from '../src/domain/runs/run-start.ts';
import { counted } from '../src/domain/text/counted.ts';
import type { RunProgress } from './messages.ts';

type Row = readonly [name: string, value: string | number];

/** A run on the page of its workflow in Temporal's UI: state, what it waits for, figures as the tables have them. */
export function runDetails(progress: RunProgress): string {
  const { figures } = progress;
  return markdownTable([
    ['**state**', `**${progress.phase}**`],
    ...waitRows(progress),
    ...(figures
      ? [['figures read at', readAtText(progress, figures.readAt)] as const, ...figureRows(figures.facts)]
      : []),
    ...planRows(progress),
    ...lateRows(progress),
  ]);
}

/** Why the run does not continue now, and the next step. */
function waitRows({
  runId,
  phase,
  pauseReason,
  pageWait,
  plan,
  cancelling,
  figures,
  late,
}: RunProgress): Row[] {
  if (cancelling !== null) return [['cancelled because', cancelling]];
  if (phase === 'awaiting approval')
    return [
      ['**waits for**', `approval of the plan: at most ${counted(plan?.credits.worstCase ?? 0, 'credit')}`],
      ['next', `\`enrich resume ${runId}\`, or \`enrich cancel ${runId}\``],
    ];
  if (pauseReason)
    return [
      [phase === 'failed' ? '**reason**' : '**waits for**', pauseReason.reason],
      ['next', `\`${pauseReason.next}\``],
    ];
  if (phase === 'enriching' && pageWait !== null) return [['**waits for**', `the next call: ${pageWait}`]];
  if (phase === 'awaiting late results' && late)
    return [['**waits for**', `late results of ${awaitedText(late)}`]];
  return phase === 'finished' && figures ? leftToDo(figures.facts) : [];
}

/** What a person has to do after a finished run. */
function leftToDo({ run_id: runId, credits, outcomes: counts }: RunFacts): Row[] {
  const unknown: Row = [
    '**next**',
    `decide on calls whose cost is unknown: \`enrich attempts list ${runId}\``,
  ];
  const overBudget: Row = [
    '**next**',
    'raise the budget and run the file again: it asks only for people who are not fresh',
  ];
  return [
    ...(credits.unknown === '0' ? [] : [unknown]),
    ...((counts['over_budget'] ?? 0) > 0 ? [overBudget] : []),
  ];
}

/** Every outcome that occurs; `open` rows have none yet. They add up to the rows of the file. */
function figureRows(facts: RunFacts): Row[] {
  const { rows, outcomes: counts, filled, calls, credits, max_credits: limit, service } = facts;
  const present = [...outcomes, 'open'].filter((name) => (counts[name] ?? 0) > 0);
  const sum = present.reduce((total, name) => total + (counts[name] ?? 0), 0);
  return [
    ...present.map((name): Row => [`rows ${name}`, counts[name] ?? 0]),
    ['rows, sum', `${sum} of ${rows}`],
    ...(filled > 0 ? [['contacts filled without a call', filled] as const] : []),
    ['calls', calls],
    ['credits settled', credits.settled],
    ['credits reserved', credits.reserved],
    ['credits unknown', credits.unknown],
    ['budget of the run', limit ?? 'none'],
    ['service', describeAskedService(service)],
  ];
}

function planRows({ plan, page, pages, service, priority }: RunProgress): Row[] {
  if (!plan) return [];
  const { credits } = plan;
  return [
    [
      'plan',
      `${counted(plan.people, 'person', 'people')}, ${counted(plan.calls, 'call')}, ` +
        `${credits.expected} credits expected, ${credits.worstCase} at most (${plan.planHash})`,
    ],
    ['pages done', `${Math.max(0, page - 1)} of ${pages}`],
    ['priority', priority],
    ...(service === null ? [] : [['service says', service] as const]),
  ];
}

function lateRows({ late }: RunProgress): Row[] {
  if (!late) return [];
  return [
    ['late results awaited', `of ${awaitedText(late)}`],
    ['late results arrived', counted(late.arrived, 'delivery', 'deliveries')],
    ...(late.expired > 0 ? [['late results expired', `of ${counted(late.expired, 'call')}`] as const] : []),
    ...(late.orphaned > 0 ? [['orphaned deliveries', late.orphaned] as const] : []),
  ];
}

function awaitedText({ awaited, until }: LateResultsStatus): string {
  return `${counted(awaited, 'call')}${until === null ? '' : `, until ${timeText(until)}`}`;
}

/** The run reads its figures between pages, so during a page they are older. The row names the command for new ones. */
function readAtText({ runId, phase, page }: RunProgress, readAt: string): string {
  const behind = `, without page ${page}, which is in progress; now: \`enrich status ${runId}\``;
  return timeText(readAt) + (phase === 'enriching' ? behind : '');
}

/** `2026-11-22 06:24:55 UTC`, from ISO 8601. */
function timeText(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}
