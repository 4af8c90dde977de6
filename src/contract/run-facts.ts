import type { RunStatus } from './run-statuses.ts';

/** An undo of a run: the values of the run are removed from contacts, and its costs stay. */
export interface Undone {
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
}

/** The cancellation of a run. */
export interface Cancelled {
  readonly at: string;
  readonly reason: string;
}

/** The object that `--json` prints last and `enrich status --json` prints: part of the public surface. */
export interface RunFacts {
  readonly run_id: string;
  readonly workflow_id: string;
  readonly status: RunStatus;
  /** A stable name of the reason for the status, or of what an ended run leaves to a person, such as `budget.empty`. */
  readonly reason_type: string | null;
  readonly reason: string | null;
  readonly next: string | null;
  readonly source: string | null;
  readonly file: string;
  /** `sandbox`, or the address of the service without secrets. */
  readonly service: string;
  readonly plan_hash: string | null;
  readonly rows: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Contacts that got the data of a known person without a call. */
  readonly filled: number;
  readonly calls: number;
  /** The run's own budget; null: none. */
  readonly max_credits: string | null;
  readonly credits: { readonly settled: string; readonly reserved: string; readonly unknown: string };
  /** The expected credits of the plan, with their range; null: there is no plan. */
  readonly expected_credits: {
    readonly expected: string;
    readonly low: string;
    readonly high: string;
  } | null;
  readonly late_results: {
    readonly awaited: number;
    readonly arrived: number;
    /** Of these results, the ones that came by poll. */
    readonly polled: number;
    readonly late: number;
    readonly expired: number;
    readonly orphaned: number;
    /** Repeated deliveries. */
    readonly duplicate: number;
    /** Deliveries that cannot be applied. */
    readonly quarantined: number;
    /** When the next poll is due, as ISO 8601; null: no call needs one. */
    readonly next_poll_at: string | null;
    /** The late results that an ended run lacks, as a sentence; null: none. */
    readonly missing: string | null;
  };
  /** Null: the run is not cancelled. */
  readonly cancelled: Cancelled | null;
  readonly undone: Undone | null;
}

/** The figures of a run, and the time at which its workflow read them, as ISO 8601. */
export interface RunFigures {
  readonly facts: RunFacts;
  readonly readAt: string;
}
