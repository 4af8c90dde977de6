import type { StatusReason } from './pause-reasons.ts';
import type { PlanSummary } from './plan-summary.ts';
import type { RunFigures } from './run-facts.ts';
import type { RunPriority } from './run-priorities.ts';

export interface RunInput {
  readonly runId: string;
  /** The file's name and the run's own budget, for readers of the input in the Temporal UI. */
  readonly file: string;
  readonly maxCredits: string | null;
  /** Already allowed to spend (`--yes`, or the terminal approved). */
  readonly approved: boolean;
  /** Batches of a page that run at the same time. */
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
  /** The namespace knows our search attributes. */
  readonly searchable: boolean;
  /** The service has not been asked yet whether it accepts the credential. */
  readonly checksService: boolean;
  /**
   * The run waits for results that arrive after the answers; absent if everything comes with the answer.
   */
  readonly lateResults?: { readonly pollAfterSeconds: number };
  /** Carried over continue-as-new. */
  readonly carried?: CarriedState;
}

/** State that an execution of a run's workflow passes to the next one by continue-as-new. */
export interface CarriedState {
  readonly plan: PlanSummary;
  /** What the service says of the credential; null: not asked. */
  readonly service: string | null;
  readonly page: number;
  readonly figures: RunFigures | null;
  readonly isPilotPassed: boolean;
  readonly pauseReason: StatusReason | null;
  /** Why the run is being cancelled; null: it is not. */
  readonly cancelling: string | null;
  /** Every call is made, and late results are awaited. */
  readonly ending: RunEnding | null;
}

/** How a run ends once its late results are there. */
export interface RunEnding {
  readonly ending: 'finished' | 'over_budget' | 'cancelled';
  /** The budget that had no credits left for the rest. */
  readonly budget?: string;
  /** Deliveries that had taken effect before. */
  readonly arrivedBefore: number;
}

export interface PageInput {
  readonly runId: string;
  /** From 1. */
  readonly page: number;
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
}
