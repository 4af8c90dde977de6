import type { PlanSummary } from './plan-summary.ts';
import type { RunFigures } from './run-facts.ts';
import type { RunPriority } from './temporal-names.ts';
import type { ScheduledOptions } from '../domain/runs/run-options.ts';

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
  /** Deliveries that had taken effect when the run stopped calling. With more, credits can be free again. */
  readonly arrivedBefore: number;
}

export interface PageInput extends Pick<
  RunInput,
  'runId' | 'batchConcurrency' | 'priority' | 'heartbeatSeconds'
> {
  /** From 1. */
  readonly page: number;
}

/**
 * The export of a schedule: a path on the workers' disk, a URL, a pattern, or a query. Each scheduled time finds the
 * export anew. The file name may contain `*` and `?`. `{date}` may be anywhere, and becomes the as-of date in the
 * schedule's time zone, such as 2026-11-21.
 */
export interface ExportChoice {
  readonly kind: 'file' | 'newest' | 'every-new' | 'query';
  readonly from: string;
}

/** Input of a schedule's workflow: the options of its runs, and properties of the schedule. */
export interface ScheduledRunInput extends ScheduledOptions {
  readonly schedule: string;
  readonly export: ExportChoice;
  readonly timezone: string;
  /** The schedule may run without any budget (`--no-budget`). */
  readonly noBudget: boolean;
  /** The namespace has the search attributes of runs. */
  readonly searchable: boolean;
}

/** The exports that a scheduled time found. */
export interface ScheduledRuns {
  /** Runs that are recorded and approved, oldest file first; the workflow still has to start their workflows. */
  readonly runs: readonly RunInput[];
  /** Files that could not be read: the scheduled time fails, and the next one tries these files again. */
  readonly refused: readonly RefusedExport[];
}

export interface RefusedExport {
  readonly file: string;
  readonly reason: string;
}

/** Result of one scheduled time, as Temporal shows it. */
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
