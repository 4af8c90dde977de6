import type { Undone } from '../contract.ts';
import type { Outcome } from '../domain/runs/outcome.ts';

/**
 * Everything that the report of a run says, and exactly what `--format json` prints: names are stable, credits are
 * decimals as text, times are ISO 8601 in UTC. Counts, ids and reasons of ours; nothing of the people in the file but
 * its name.
 */
export interface RunReport {
  /** Raised where a name changes its meaning or goes away. */
  readonly report_version: 1;
  readonly generated_at: string;
  readonly run: ReportedRun;
  /** Rows by outcome, in the order of the public list; `open` while a row has none. */
  readonly outcomes: Readonly<Partial<Record<Outcome | 'open', number>>>;
  readonly coverage: Coverage;
  readonly credits: Credits;
  readonly waste: readonly Waste[];
  readonly costs: readonly FieldCost[];
  readonly calls: Calls;
  readonly late_results: LateResults;
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
  /** `sandbox`, or the service's address without what could be a secret. */
  readonly service: string;
  readonly asked_for: { readonly reveal: readonly string[]; readonly waterfall: readonly string[] };
  readonly priority: string;
  readonly plan_hash: string | null;
  readonly created_at: string;
  readonly approved_at: string | null;
  readonly finished_at: string | null;
  /** From the order to the end, or until now. */
  readonly seconds: number;
  /** Null: what it wrote stands. */
  readonly undone: Undone | null;
}

/** Contacts of the file (without its duplicates and unreadable rows), and how many of them have a value. */
export interface Coverage {
  readonly contacts: number;
  /** Empty where the rows of the file are no longer kept. */
  readonly fields: readonly FieldCoverage[];
}

export interface FieldCoverage {
  readonly field: string;
  /** In the export; null where it has no column for it. */
  readonly before: number | null;
  /** In the export, or in the warehouse by now. */
  readonly after: number;
  /** In the warehouse and not in the export. */
  readonly gained: number;
}

export interface Credits {
  /** `records` for answers, `phones` and `waterfall` for late results, `decided` by the operator without a bill. */
  readonly settled: {
    readonly total: string;
    readonly records: string;
    readonly phones: string;
    readonly waterfall: string;
    readonly decided: string;
  };
  /** Reserved for calls in flight, awaited late results, and calls whose cost is unknown. */
  readonly held: {
    readonly total: string;
    readonly in_flight: string;
    readonly awaiting: string;
    readonly unknown: string;
  };
  /** What the plan said before; null where the run was never planned. */
  readonly planned: {
    readonly minimum: string;
    readonly expected: string;
    readonly worst_case: string;
  } | null;
  /** The budgets that the run's calls were booked in; their figures are those of all runs. */
  readonly budgets: readonly {
    readonly budget: string;
    readonly limit: string | null;
    readonly settled: string;
    readonly reserved: string;
  }[];
}

/**
 * Credits that bought nothing. What a call cost is known as one sum; a person's part in it is an even share.
 *
 * - `no_contact`: people who came back and were written to no contact, because nothing shows that they are who was
 *   asked for.
 * - `answered_again`: people who came back more than once: rows of one person that nothing in the file shows to be one.
 * - `no_answer`: calls that the operator accepted as billed, and whose answer never came.
 * - `orphaned_delivery`: late results about people who were not asked for.
 */
export interface Waste {
  readonly kind: 'no_contact' | 'answered_again' | 'no_answer' | 'orphaned_delivery';
  /** People; deliveries of `orphaned_delivery`. */
  readonly count: number;
  readonly credits: string;
}

/** What one usable field cost, among the rows that this run enriched. */
export interface FieldCost {
  readonly field: 'contact' | 'verified_email' | 'phone';
  readonly count: number;
  /** Settled credits that the field is charged with. */
  readonly credits: string;
  /** Rounded to a millionth; null where there is none of the field. */
  readonly each: string | null;
}

export interface Calls {
  /** Calls by the status of their attempt; `released` ones were never sent. */
  readonly by_status: Readonly<Record<string, number>>;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly bucket_seconds: number;
  /** Calls by the moment of their admission, this run's and those of other runs at the same service. */
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
  /** The most calls, of all runs, that any trailing window held. */
  readonly peak: number;
  /** The same within each bucket. */
  readonly trailing: readonly number[];
}

export interface LateResults {
  /** Calls whose late results are awaited, and calls whose late results expired. */
  readonly awaited: number;
  readonly expired: number;
  /** Deliveries that took effect; of those, after the run's end, and fetched by a poll. */
  readonly arrived: number;
  readonly late: number;
  readonly polled: number;
  /** Deliveries without effect: duplicates, orphaned, unreadable, or not applied yet. */
  readonly duplicate: number;
  readonly orphaned: number;
  readonly quarantined: number;
  readonly waiting: number;
  /** From the answer to the delivery; null where none has arrived. */
  readonly median_seconds: number | null;
  readonly longest_seconds: number | null;
}

/** Something that only a person can decide, and how. */
export interface Action {
  readonly what: string;
  readonly next: string;
}
