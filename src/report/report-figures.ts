import type { Undone } from '../contract.ts';
import type { Evaluation } from './evaluation/evaluate-truth.ts';
import type { DeliveryKind } from '../domain/late-results/delivery-kinds.ts';
import type { Outcome } from '../domain/runs/outcome.ts';

/**
 * The report of a run, exactly as `--format json` prints it. Names are stable, credits are decimals as text,
 * times are ISO 8601 in UTC. Of the people in the file it has no data; of the file, its name.
 */
export interface RunReport {
  /** Incremented when a name is removed or changes its meaning. */
  readonly report_version: 1;
  readonly generated_at: string;
  readonly run: ReportedRun;
  /** Rows by outcome, in the documented order; `open` counts rows without an outcome yet. */
  readonly outcomes: Readonly<Partial<Record<Outcome | 'open', number>>>;
  readonly coverage: Coverage;
  readonly credits: Credits;
  readonly waste: readonly Waste[];
  readonly costs: readonly FieldCost[];
  readonly calls: Calls;
  readonly late_results: LateResults;
  /** With `--truth`: how the contacts of the run's source compare with known values. */
  readonly evaluation?: Evaluation;
  readonly needs_person: readonly Action[];
}

export interface ReportedRun {
  readonly run_id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly next: string | null;
  readonly file: string;
  readonly file_sha256: string;
  readonly rows: number;
  readonly source: string | null;
  /** `sandbox`, or the service's address without secrets. */
  readonly service: string;
  readonly asked_for: { readonly reveal: readonly string[]; readonly waterfall: readonly string[] };
  readonly priority: string;
  readonly plan_hash: string | null;
  readonly created_at: string;
  readonly approved_at: string | null;
  readonly finished_at: string | null;
  /** From the creation of the run to its end, or until now. */
  readonly seconds: number;
  /** Null: the run is not undone. */
  readonly undone: Undone | null;
}

/** Contacts of the file (without duplicates and unreadable rows), and how many of them have each field. */
export interface Coverage {
  readonly contacts: number;
  /** Empty if the rows of the file have been pruned. */
  readonly fields: readonly FieldCoverage[];
}

export interface FieldCoverage {
  readonly field: string;
  /** In the export; null if the export has no column for the field. */
  readonly before: number | null;
  /** In the export or, now, in the warehouse. */
  readonly after: number;
  /** In the warehouse and not in the export. */
  readonly gained: number;
}

export interface Credits {
  /** `records` for answers, by kind for deliveries, `decided` by the operator without a bill. */
  readonly settled: Readonly<Record<'total' | 'records' | DeliveryKind | 'decided', string>>;
  /** Reserved for calls in flight, awaited late results, and calls whose cost is unknown. */
  readonly held: {
    readonly total: string;
    readonly in_flight: string;
    readonly awaiting: string;
    readonly unknown: string;
  };
  /** The plan's estimate; null if the run was not planned. */
  readonly planned: {
    /** The range of what is expected. */
    readonly low: string;
    readonly high: string;
    readonly minimum: string;
    readonly expected: string;
    readonly worst_case: string;
  } | null;
  /** The budgets of the run's calls, with the figures of all their runs. */
  readonly budgets: readonly {
    readonly budget: string;
    readonly limit: string | null;
    readonly settled: string;
    readonly reserved: string;
  }[];
}

/**
 * Credits without a result. The cost of a call is divided equally among its people.
 *
 * - `no_contact`: returned people who matched no contact by the identity rule.
 * - `answered_again`: people returned more than once, because the file did not show that several rows are one
 *   person.
 * - `no_answer`: calls without an answer that an operator accepted as billed.
 * - `orphaned_delivery`: late results about people that no call asked for.
 */
export interface Waste {
  readonly kind: 'no_contact' | 'answered_again' | 'no_answer' | 'orphaned_delivery';
  /** Number of people; for `orphaned_delivery`, of deliveries. */
  readonly count: number;
  readonly credits: string;
}

/** The cost of one usable field among the rows that this run enriched. */
export interface FieldCost {
  readonly field: 'contact' | 'verified_email' | 'phone';
  readonly count: number;
  /** Settled credits charged to the field. */
  readonly credits: string;
  /** Rounded to a millionth; null if no row has the field. */
  readonly each: string | null;
}

export interface Calls {
  /** Calls by the status of their attempt; `released` ones were never sent. */
  readonly by_status: Readonly<Record<string, number>>;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly bucket_seconds: number;
  /** Calls by the time of their admission: of this run, and of other runs at the same service. */
  readonly buckets: readonly {
    readonly at: string;
    readonly this_run: number;
    readonly other_runs: number;
  }[];
  readonly windows: readonly RateWindow[];
}

export interface RateWindow {
  readonly limit: number;
  readonly seconds: number;
  /** The maximum number of calls of all runs in a trailing window. */
  readonly peak: number;
  /** The same maximum for each bucket. */
  readonly trailing: readonly number[];
}

export interface LateResults {
  /** Calls whose late results are awaited, and calls whose late results expired. */
  readonly awaited: number;
  readonly expired: number;
  /** Deliveries with effect; of these, after the run's end, and fetched by a poll. */
  readonly arrived: number;
  readonly late: number;
  readonly polled: number;
  /** Deliveries without effect: duplicates, orphaned, unreadable, or not applied yet. */
  readonly duplicate: number;
  readonly orphaned: number;
  readonly quarantined: number;
  readonly waiting: number;
  /** From the answer to the delivery; null before the first delivery. */
  readonly median_seconds: number | null;
  readonly longest_seconds: number | null;
}

/** A task that only a person can do, and the next step. */
export interface Action {
  readonly what: string;
  readonly next: string;
}
