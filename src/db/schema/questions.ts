import type { Timestamp, View } from './column-types.ts';

/** A view: rows of runs, with the current state of their contacts. */
export interface RowResultsView {
  run_id: string;
  row_number: number;
  source: string;
  contact_id: string;
  outcome: string | null;
  reason: string | null;
  lost_reason: string | null;
  lost_at: Timestamp | null;
}

export interface QuestionsTables {
  /** Moves that the newest finished run detected, with the person's name and contacts. */
  job_changes_of_last_run: View;
  /** The phones of each contact. */
  contact_phones: View;
  /** The cost of each run, and the people, addresses and phones that its calls found. */
  run_costs: View;
  /** Calls that were or may have been billed, and enriched no row. */
  calls_without_data: View;
  row_results: RowResultsView;
  /** Contacts that changed within 24 hours. */
  changes_of_last_day: View;
  /** How many contacts of a source and segment have an address, phone or title. */
  coverage_by_segment: View;
  /** Current values, the oldest first. */
  oldest_values: View;
  /** People with more than one contact. */
  duplicate_contacts: View;
}
