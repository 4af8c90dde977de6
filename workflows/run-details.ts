import { figureRows } from '../src/contract/figure-rows.ts';
import { markdownTable } from '../src/contract/workflow-details.ts';
import { statusText, type RunStatus } from '../src/contract/run-transitions.ts';
import { describeServiceOfRun } from '../src/domain/runs/run-options.ts';
import { formatCount, formatSecond } from '../src/domain/text/format.ts';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { LateResultsStatus, RunFactsSnapshot } from '../src/contract/run-facts.ts';
import type { StatusReason } from '../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../src/contract/plan-summary.ts';

type Row = readonly [name: string, value: string | number];

/** Progress of a run, for the query `progress` and for the run's page in the Temporal UI. */
export interface RunProgress {
  readonly runId: string;
  /** Status as last read from the tables. */
  readonly status: RunStatus;
  /** What the run waits for. Null if it does not wait, or only for a short time. */
  readonly waitsFor: RunWait | null;
  readonly page: number;
  readonly pages: number;
  readonly plan: PlanSummary | null;
  /** Result of the check of the credential and its limits. Null if the command that began the run has checked them. */
  readonly service: string | null;
  /** Facts of the run as last read from the tables. Null before the first read. */
  readonly figures: RunFactsSnapshot | null;
  /** State of late results. Null if the run expects none. */
  readonly late: LateResultsStatus | null;
}

/** Formats the text of a run's page in the Temporal UI: its status, what it waits for, and its counts. */
export function runDetails(progress: RunProgress): string {
  const { figures } = progress;
  return markdownTable([
    ['**status**', `**${statusText(progress.status)}**`],
    ...reasonRows(progress),
    ...(figures
      ? [
          ['figures read at', formatSecond(figures.readAt)] as const,
          ...figureRows(figures.facts),
          ['service', describeServiceOfRun(figures.facts.service)] as const,
        ]
      : []),
    ...planRows(progress),
  ]);
}

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
      `${formatCount(plan.people, 'person', 'people')}, ${formatCount(plan.calls, 'call')}, ` +
        `${credits.expected} credits expected, ${credits.worst_case} at most (${plan.plan_hash})`,
    ],
    ['pages done', `${Math.max(0, page - 1)} of ${pages}`],
    ...(service === null ? [] : [['service said at the start', service] as const]),
  ];
}

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const waitsForAttribute = { name: 'EnrichmentWaitsFor', type: 'KEYWORD' } as const;
const sourceAttribute = { name: 'EnrichmentSource', type: 'KEYWORD' } as const;
const rowsAttribute = { name: 'EnrichmentRows', type: 'INT' } as const;
const creditsAttribute = { name: 'EnrichmentCreditsSettled', type: 'DOUBLE' } as const;

export class RunAttributes {
  /**
   * State that was last written. It is not read from Temporal: if an attribute were renamed in the namespace, a replay
   * would read another state and decide differently, which Temporal refuses.
   */
  #written: string | undefined;

  /** Writes the search attributes, only if the state has changed: Temporal Cloud bills each upsert as an action. */
  write({ status, waitsFor, figures }: RunProgress): void {
    const state = `${status} ${waitsFor?.type}`;
    if (state === this.#written) return;
    this.#written = state;
    const facts = figures?.facts;
    upsertSearchAttributes([
      { key: statusAttribute, value: status },
      { key: waitsForAttribute, value: waitsFor?.type ?? null },
      // Until the export is read, the attribute keeps the source that the command named.
      ...(facts?.source ? [{ key: sourceAttribute, value: facts.source }] : []),
      ...(facts
        ? [
            { key: rowsAttribute, value: facts.rows },
            { key: creditsAttribute, value: Number(facts.credits.settled) },
          ]
        : []),
    ]);
  }
}

export interface RunWait {
  /** Value of the search attribute `EnrichmentWaitsFor`: a pause reason, `approval`, `late results` or `next call`. */
  readonly type: string;
  readonly reason: string;
  /** What the operator can do. Null if nothing is needed. */
  readonly next: string | null;
}

/** Describes what a run waits for. @returns null if it does not wait, or only for a short time */
export function runWaitOf(run: {
  readonly runId: string;
  readonly status: RunStatus;
  readonly pauseReason: StatusReason | null;
  readonly plan: PlanSummary | null;
  readonly awaitsLateResults: boolean;
  readonly late?: { readonly status: LateResultsStatus } | undefined;
  readonly pageWait: string | null;
}): RunWait | null {
  const { runId, status, plan, late, pageWait } = run;
  if (status === 'awaiting_approval')
    return {
      type: 'approval',
      reason: `approval of the plan: at most ${formatCount(plan?.credits.worst_case ?? 0, 'credit')}`,
      next: `enrich approve ${runId}, or enrich cancel ${runId}`,
    };
  if (status !== 'running') return run.pauseReason;
  if (run.awaitsLateResults && late)
    return { type: 'late results', reason: `late results of ${describeAwaited(late.status)}`, next: null };
  return pageWait === null ? null : { type: 'next call', reason: `the next call: ${pageWait}`, next: null };
}

/** Formats awaited late results: `3 calls, until 2026-11-22 06:24:55 UTC`. */
function describeAwaited({ awaited, until }: LateResultsStatus): string {
  return `${formatCount(awaited, 'call')}${until === null ? '' : `, until ${formatSecond(until)}`}`;
}
