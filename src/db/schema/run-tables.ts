import type { IdentityColumns } from '../../domain/identity/identity.ts';
import type { Generated } from 'kysely';
import type { StatusReason } from '../../contract/pause-reasons.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import type { RunStatus } from '../../contract/run-statuses.ts';
import type { ExportProfile } from '../../domain/runs/expectations.ts';
import type { MatchRate } from '../../domain/runs/match-rate.ts';
import type { Outcome } from '../../domain/runs/outcome.ts';
import type { RunOptions } from '../../domain/runs/run-options.ts';
import type { Timestamp, GeneratedTimestamp, Json } from './column-types.ts';

/** `sql/runs.sql` has the meaning of the columns that analysts read. */
export interface RunTables {
  runs: {
    run_id: string;
    /**
     * Hash of file content and options; unique among unfinished runs, so that the same command continues the run.
     */
    run_key: string;
    workflow_id: string;
    status: RunStatus;
    pause_reason: Json<StatusReason> | null;
    source: string | null;
    file_path: string;
    file_name: string;
    file_sha256: string;
    options: Json<RunOptions>;
    header: string[] | null;
    /** Column of the file → field. */
    mapping: Json<Record<string, string>> | null;
    /** Irregularities of the file that did not prevent reading it. */
    warnings: Generated<string[]>;
    rows_staged: Generated<number>;
    rows_pruned: Generated<number>;
    rows_dropped: Generated<number>;
    cells_left: Generated<boolean>;
    rows_left: Generated<boolean>;
    outcomes: Json<Readonly<Record<string, number>>> | null;
    ingested_at: Timestamp | null;
    export_profile: Json<ExportProfile> | null;
    plan: Json<PlanSummary> | null;
    plan_hash: string | null;
    /** The plan that `--plan HASH` binds the run to. */
    expected_plan_hash: string | null;
    as_of: GeneratedTimestamp;
    created_at: GeneratedTimestamp;
    approved_at: Timestamp | null;
    finished_at: Timestamp | null;
    pilot: Json<PilotFigures> | null;
    /** The quality gate of the match rate counts calls that were answered after this time. */
    match_rate_since: Timestamp | null;
    /** One call at a time is sent until a call that was sent after this time is answered. Null: no pause by a call. */
    probing_since: Timestamp | null;
    /** Ids of the workflow's updates that took effect: Temporal sends them again after a reset. */
    applied_updates: Generated<string[]>;
    cancelled_at: Timestamp | null;
    cancelled_reason: string | null;
    undone_at: Timestamp | null;
    undone_by: string | null;
    undone_reason: string | null;
    /** Its answers were removed after its undo, which can no longer be reverted. */
    answers_discarded_at: Timestamp | null;
  };
  run_rows: IdentityColumns & {
    run_id: string;
    row_number: number;
    contact_id: string;
    outcome: Outcome | null;
    reason: string | null;
    record_row: number | null;
    is_contested: Generated<boolean>;
    filled: Generated<boolean>;
    claimed_by_run_id: string | null;
    claimed_by_row_number: number | null;
    /** The record's cells as a JSON array in the order of `runs.header`: text, because jsonb refuses \u0000. */
    raw: string;
    opted_out: Generated<boolean>;
    /** The row or, after planning, any row of the same person opted out of calls: calls ask for no phone. */
    opted_out_of_calls: Generated<boolean>;
    /** Identity keys (`identityKeys` of the domain), which decide about duplicates, freshness and claims. */
    keys: string[];
    /** `matchKeysOfIdentity` of the domain, which find the rows that a person could fit. */
    match_keys: Generated<number[]>;
    /** Hash of the cleared cells of a suppressed row, to see in a later export whether the record has changed. */
    identity_hash: Buffer | null;
  };
  /** In the order of the file; position 0 is the first person of batch 1 of page 1. */
  run_people: {
    run_id: string;
    position: number;
    row_number: number;
    left_out: Generated<string[]>;
    found_before: boolean | null;
  };
  claims: {
    identity_key: string;
    service: string;
    run_id: string;
    row_number: number;
  };
  /** Content hash of fetched exports, by address and version. */
  fetched_exports: {
    /** Without secrets. */
    address: string;
    etag: string;
    sha256: string;
  };
}

/** The results of a run's pilot; credits are decimal text. */
export interface PilotFigures {
  readonly people: number;
  readonly answered: number;
  readonly found: number;
  readonly match_rate: MatchRate | null;
  readonly credits: { readonly settled: string; readonly held: string };
  /**
   * Number of contacts that have the field, and the credits for each; null: no contact has it, or it is the phone and
   * the run asks for none.
   */
  readonly fields: Readonly<Record<string, { readonly count: number; readonly credits_each: string | null }>>;
}
