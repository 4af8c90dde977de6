import type { ScheduledOptions } from '../domain/runs/run-options.ts';
import type { RunInput } from './run-input.ts';

/**
 * Where a schedule finds its export, each time anew: a path as the worker sees it, an address, a pattern of either, a
 * table, or a query. `*` and `?` stand in the name of a file, and `{date}` anywhere for the as-of date in the
 * schedule's time zone, as 2026-11-21.
 */
export type ExportChoice =
  | { readonly kind: 'file' | 'every-new' | 'from-table' | 'query'; readonly from: string }
  | { readonly kind: 'newest'; readonly from: string; readonly by: 'name' | 'time' };

/** Input of a schedule's workflow: the options of its runs, and what belongs to the schedule itself. */
export interface ScheduledRunInput extends ScheduledOptions {
  readonly schedule: string;
  /** Workers of another service refuse it; null: the service of whichever worker runs it. */
  readonly service: string | null;
  /** The group of a schedule that `enrich schedule apply` manages; null: made by hand. */
  readonly group: string | null;
  readonly export: ExportChoice;
  readonly timezone: string;
  /** The schedule may run without any budget (`--no-budget`). */
  readonly noBudget: boolean;
  /** The namespace knows our search attributes. */
  readonly searchable: boolean;
}

/** What a schedule found to do. */
export interface ScheduledRuns {
  /** Begun in the warehouse and approved, oldest file first; their workflows are still to be started. */
  readonly runs: readonly RunInput[];
  /** Files that could not be read this time: they fail this time of the schedule, and are tried again at the next. */
  readonly refused: readonly RefusedExport[];
  /** Files that are new as well, and are left for the next time. */
  readonly left: number;
}

export interface RefusedExport {
  readonly file: string;
  readonly reason: string;
}

/** What became of one time of a schedule: the result that Temporal shows. */
export interface ScheduledRunResult {
  /** The time that the schedule stood for, as ISO 8601. */
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
