import type { PlanSummary } from './plan-summary.ts';
import type { RunFigures } from './run-facts.ts';
import type { RunPriority } from './run-priorities.ts';

export interface RunInput {
  readonly runId: string;
  /** The file's name and the run's own budget, for people who read the input in the Temporal UI. */
  readonly file: string;
  readonly maxCredits: string | null;
  /** Number of batches of a page that run at the same time. */
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
  /** The namespace has the search attributes of runs. */
  readonly searchable: boolean;
  /** The run must ask the service whether it accepts the credential: no command has asked. */
  readonly checksService: boolean;
  /**
   * Absent: everything comes with the answers. The pause of the process that starts the run decides how often the run
   * syncs; the workers have their own for the polls.
   */
  readonly lateResults?: { readonly pollAfterSeconds: number };
  /** Seconds without a heartbeat after which Temporal repeats an activity; default 10. Tests of kills have less. */
  readonly heartbeatSeconds?: number;
  /** The state of the execution before continue-as-new. */
  readonly carried?: CarriedState;
}

/** State that an execution of a run's workflow passes to the next one by continue-as-new. */
export interface CarriedState {
  readonly plan: PlanSummary;
  /** What the service says about the credential; null: the service was not asked. */
  readonly service: string | null;
  readonly page: number;
  /** The status of the run is in the figures. */
  readonly figures: RunFigures | null;
  readonly isPilotPassed: boolean;
  /** All calls are made, and the run awaits late results. */
  readonly ending: RunEnding | null;
}

/** How the run ends after its late results. */
export interface RunEnding {
  /** The exhausted budget, if the run ends because of it. */
  readonly budget?: string;
  /** Number of deliveries that took effect in earlier executions. */
  readonly arrivedBefore: number;
}

export interface PageInput {
  readonly runId: string;
  /** From 1. */
  readonly page: number;
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
  /** As of its run. */
  readonly heartbeatSeconds?: number;
}
