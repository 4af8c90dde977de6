import { figureRows } from '../src/contract/figure-rows.ts';
import { markdownTable } from '../src/domain/runs/run-options.ts';
import { statusText } from '../src/contract/run-statuses.ts';
import { counted, secondOf } from '../src/domain/text/format.ts';
import type { RunProgress } from './messages.ts';
import { describeAwaited } from './run-wait.ts';

type Row = readonly [name: string, value: string | number];

/** A run on the page of its workflow in Temporal's UI: state, what it waits for, figures as the tables have them. */
export function runDetails(progress: RunProgress): string {
  const { figures } = progress;
  return markdownTable([
    ['**status**', `**${statusText(progress.status)}**`],
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
  if (waitsFor) return [['**why it waits**', waitsFor.reason], ...nextRows(waitsFor.next)];
  return facts && facts.reason !== null ? [['**reason**', facts.reason], ...nextRows(facts.next)] : [];
}

function nextRows(next: string | null): Row[] {
  return next === null ? [] : [['next', `\`${next}\``]];
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
    ...(service === null ? [] : [['service said at the start', service] as const]),
  ];
}

/** The late results as of the last sync, which is newer than the figures. */
function lateRows({ late }: RunProgress): Row[] {
  if (!late || late.awaited === 0) return [];
  return [['late results awaited', `of ${describeAwaited(late)}`]];
}

/** The run reads its figures between pages, so during a page they are older. The row names the command for new ones. */
function readAtText({ runId, status, waitsFor, page, pages }: RunProgress, readAt: string): string {
  const isOpen = status === 'running' && waitsFor?.type !== 'late results' && page > 0 && page <= pages;
  const behind = `, without page ${page}, which is in progress; now: \`enrich status ${runId}\``;
  return secondOf(readAt) + (isOpen ? behind : '');
}
