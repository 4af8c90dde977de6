import type { PlanSummary } from './plan-summary.ts';
import type { RunFactsSnapshot } from './run-facts.ts';
import type { RunPriority } from './temporal-names.ts';
import type { ScheduledOptions } from '../domain/runs/run-options.ts';

/** Input of a run's workflow. */
export interface RunInput {
  readonly runId: string;
  /** The file's name and the run's budget are only for operators who read the input in the Temporal UI. */
  readonly file: string;
  readonly maxCredits: string | null;
  /** Number of batches of a page that run at the same time. */
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
  /** True if the Temporal namespace has the search attributes of runs. */
  readonly searchable: boolean;
  /** True if the run must check the credential with the service, because no command has. */
  readonly checksService: boolean;
  /**
   * How often the run syncs late results; undefined if the run expects none. The value comes from the process that
   * starts the run. Workers have a setting of their own for polls.
   */
  readonly lateResults?: { readonly pollAfterSeconds: number };
  /** Seconds without a heartbeat after which Temporal retries an activity, by default 10. Tests use fewer. */
  readonly heartbeatSeconds?: number;
  /** State of the previous execution of the workflow, after continue-as-new. */
  readonly carried?: ContinueAsNewState;
}

/** State that a run's workflow passes to its next execution by continue-as-new. */
export interface ContinueAsNewState {
  readonly plan: PlanSummary;
  /** What the check of the credential showed; null if the service was not called. */
  readonly service: string | null;
  readonly page: number;
  /** Facts of the run, with its status. */
  readonly figures: RunFactsSnapshot | null;
  readonly isPilotPassed: boolean;
  /** How the run ends. Not null once all calls are made and the run awaits late results. */
  readonly ending: RunEnding | null;
}

/** How the run ends after its late results have arrived. */
export interface RunEnding {
  /** The exhausted budget, if it ended the run. */
  readonly budget?: string;
  /** Number of deliveries that had taken effect when calls stopped. A higher number later may mean free credits. */
  readonly arrivedBefore: number;
}

export interface PageInput extends Pick<
  RunInput,
  'runId' | 'batchConcurrency' | 'priority' | 'heartbeatSeconds'
> {
  /** Number of the page, counted from 1. */
  readonly page: number;
}

/**
 * The export of a schedule: a path on the workers' disk, a URL, a pattern with `*` and `?` in the file name, or a
 * query. Each scheduled time finds the export anew. `{date}` becomes the as-of date, such as 2026-11-21.
 */
export interface ExportChoice {
  readonly kind: 'file' | 'newest' | 'every-new' | 'query';
  readonly from: string;
}

/** Input of a schedule's workflow: the options of its runs, and facts about the schedule. */
export interface ScheduledRunInput extends ScheduledOptions {
  readonly schedule: string;
  readonly export: ExportChoice;
  readonly timezone: string;
  /** True if the schedule may run without any budget (`--no-budget`). */
  readonly noBudget: boolean;
  /** True if the Temporal namespace has the search attributes of runs. */
  readonly searchable: boolean;
}

/** Exports that a scheduled time found. */
export interface ScheduledRuns {
  /** Recorded and approved runs, those of the oldest file first. The workflow starts a workflow for each. */
  readonly runs: readonly RunInput[];
  /** Files that could not be read. The scheduled time fails, and the next one tries these files again. */
  readonly refused: readonly RefusedExport[];
}

export interface RefusedExport {
  readonly file: string;
  readonly reason: string;
}

/** Result of one scheduled time, as the Temporal UI shows it. */
export interface ScheduledRunResult {
  /** The scheduled time, as ISO 8601. */
  readonly asOf: string;
  readonly summary: string;
  readonly runs: readonly {
    readonly runId: string;
    readonly file: string;
    readonly status: string;
    readonly calls: number;
    readonly creditsSettled: string;
  }[];
}
