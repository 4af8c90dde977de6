import type { ScheduledOptions } from '../domain/runs/run-options.ts';
import type { RunInput } from './run-input.ts';

/**
 * The export of a schedule: a path on the workers' disk, an address, a pattern, or a query. Every scheduled
 * time looks the export up again. The name of the file can have `*` and `?`. `{date}` can be anywhere, and becomes the
 * as-of date in the schedule's time zone, such as 2026-11-21.
 */
export interface ExportChoice {
  readonly kind: 'file' | 'newest' | 'every-new' | 'query';
  readonly from: string;
}

/** Input of a schedule's workflow: the options of its runs, and properties of the schedule. */
export interface ScheduledRunInput extends ScheduledOptions {
  readonly schedule: string;
  /** Workers of another service refuse the schedule; null: the schedule uses the service of the worker that runs it. */
  readonly service: string | null;
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
  /** Number of new files that are left for the next scheduled time. */
  readonly left: number;
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
