import type { LateResultsStatus } from '../src/contract/late-results-status.ts';
import type { StatusReason } from '../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../src/contract/plan-summary.ts';
import type { RunStatus } from '../src/contract/run-statuses.ts';
import { counted, secondOf } from '../src/domain/text/format.ts';

/** What a run waits for. */
export interface RunWait {
  /** A pause reason, `approval`, `late results` or `next call`: the search attribute `EnrichmentWaitsFor`. */
  readonly type: string;
  readonly reason: string;
  /** What a person can do; null: nothing. */
  readonly next: string | null;
}

/** @returns null: the run waits for nothing, or not for long */
export function waitOf(run: {
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
      reason: `approval of the plan: at most ${counted(plan?.credits.worstCase ?? 0, 'credit')}`,
      next: `enrich approve ${runId}, or enrich cancel ${runId}`,
    };
  if (status !== 'running') return run.pauseReason;
  if (run.awaitsLateResults && late)
    return { type: 'late results', reason: `late results of ${describeAwaited(late.status)}`, next: null };
  return pageWait === null ? null : { type: 'next call', reason: `the next call: ${pageWait}`, next: null };
}

/** `3 calls, until 2026-11-22 06:24:55 UTC` */
export function describeAwaited({ awaited, until }: LateResultsStatus): string {
  return `${counted(awaited, 'call')}${until === null ? '' : `, until ${secondOf(until)}`}`;
}
