import type { ColumnType } from 'kysely';
import type { StatusReason } from '../contract/pause-reasons.ts';
import type { PlanSummary } from '../contract/plan-summary.ts';
import type { RunStatus } from '../contract/run-transitions.ts';
import type { ExportProfile } from '../domain/runs/expectations.ts';
import type { Outcome } from '../domain/runs/outcome.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';

/** A timestamptz column: read as a Date, which has only milliseconds, written as Date or text. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
/** A jsonb column: read as a value, written as JSON text. */
type Json<Value> = ColumnType<Value, string, string>;

/** A column that an INSERT may leave out. */
export type Generated<Value> =
  Value extends ColumnType<infer Read, infer Inserted, infer Updated>
    ? ColumnType<Read, Inserted | undefined, Updated>
    : ColumnType<Value, Value | undefined, Value>;

/** Types of columns that allow only some values, or contain JSON. */
export interface ColumnValueTypes {
  'run_rows.outcome': Outcome;
  'runs.status': RunStatus;
  'runs.pause_reason': Json<StatusReason>;
  'runs.options': Json<RunOptions>;
  /** The field to which each column of the file is mapped. */
  'runs.mapping': Json<Record<string, string>>;
  'runs.outcomes': Json<Readonly<Record<string, number>>>;
  'runs.export_profile': Json<ExportProfile>;
  'runs.plan': Json<PlanSummary>;
}
