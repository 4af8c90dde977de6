import type { RunFacts } from '../src/contract/run-facts.ts';
import { describeAskedService } from '../src/domain/runs/asked-service.ts';
import { outcomes } from '../src/domain/runs/outcome.ts';
import { markdownTable } from '../src/domain/runs/run-start.ts';
import { counted } from '../src/domain/text/counted.ts';
import { secondOf } from '../src/domain/text/minute-of.ts';
import type { RunProgress } from './messages.ts';
import { describeAwaited } from './run-wait.ts';

type Row = readonly [name: string, value: string | number];

/** A run on the page of its workflow in Temporal's UI: state, what it waits for, figures as the tables have them. */
export function runDetails(progress: RunProgress): string {
  const { figures } = progress;
  return markdownTable([
    ['**status**', `**${progress.status}**`],
    ...reasonRows(progress),
    ...(figures
      ? [['figures read at', readAtText(progress, figures.readAt)] as const, ...figureRows(figures.facts)]
      : []),
    ...planRows(progress),
    ...lateRows(progress),
  ]);
}

/** What the run waits for, or why it has ended, and the next step. */
function reasonRows({ waitsFor, figures }: RunProgress): Row[] {
  const facts = figures?.facts;
  if (facts?.cancelled) return [['cancelled because', facts.cancelled.reason]];
  if (waitsFor) return [['**waits for**', waitsFor.reason], ...nextRows(waitsFor.next)];
  return facts && facts.reason !== null ? [['**reason**', facts.reason], ...nextRows(facts.next)] : [];
}

function nextRows(next: string | null): Row[] {
  return next === null ? [] : [['next', `\`${next}\``]];
}

/** Every outcome that occurs; `open` rows have none yet. They add up to the rows of the file. */
function figureRows(facts: RunFacts): Row[] {
  const { rows, outcomes: counts, filled, calls, credits, max_credits: limit, service } = facts;
  const present = ([...outcomes, 'open'] as const).filter((name) => (counts[name] ?? 0) > 0);
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

function planRows({ plan, page, pages, service }: RunProgress): Row[] {
  if (!plan) return [];
  const { credits } = plan;
  return [
    [
      'plan',
      `${counted(plan.people, 'person', 'people')}, ${counted(plan.calls, 'call')}, ` +
        `${credits.expected} credits expected, ${credits.worstCase} at most (${plan.planHash})`,
    ],
    ['pages done', `${Math.max(0, page - 1)} of ${pages}`],
    ...(service === null ? [] : [['service says', service] as const]),
  ];
}

function lateRows({ late }: RunProgress): Row[] {
  if (!late) return [];
  return [
    ['late results awaited', `of ${describeAwaited(late)}`],
    ['late results arrived', counted(late.arrived, 'delivery', 'deliveries')],
    ...(late.expired > 0 ? [['late results expired', `of ${counted(late.expired, 'call')}`] as const] : []),
    ...(late.orphaned > 0 ? [['orphaned deliveries', late.orphaned] as const] : []),
  ];
}

/** The run reads its figures between pages, so during a page they are older. The row names the command for new ones. */
function readAtText({ runId, status, waitsFor, page, pages }: RunProgress, readAt: string): string {
  const isOpen = status === 'running' && waitsFor?.type !== 'late results' && page > 0 && page <= pages;
  const behind = `, without page ${page}, which is in progress; now: \`enrich status ${runId}\``;
  return secondOf(readAt) + (isOpen ? behind : '');
}
