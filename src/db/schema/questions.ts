import type { Decimal, Timestamp, Json } from './column-types.ts';
import type { JobChangesView } from './people-history.ts';

/** A view: the phones of each contact. */
export interface ContactPhonesView {
  source: string;
  contact_id: string;
  number: string;
  e164: string | null;
  type: string | null;
  status: string | null;
  dnc_status: string | null;
  is_first: boolean | null;
  origin: string;
  asked_at: Timestamp;
  recorded_at: Timestamp;
  run_id: string;
  attempt_id: string;
  delivery_id: string | null;
}

/** A view: the cost of each run, and the people, addresses and phones that its calls found. */
export interface RunCostsView {
  run_id: string;
  file_name: string;
  source: string | null;
  finished_at: Timestamp | null;
  credits_settled: Decimal;
  credits_held: Decimal;
  people: string;
  emails: string;
  verified_emails: string;
  phones: string;
  credits_per_person: Decimal | null;
  credits_per_verified_email: Decimal | null;
  credits_per_phone: Decimal | null;
}

/** A view: calls that were or may have been billed, and enriched no row. */
export interface CallsWithoutDataView {
  attempt_id: string;
  run_id: string;
  status: string;
  people: number;
  credits_settled: Decimal | null;
  credits_answered: Decimal | null;
  credits_reserved: Decimal;
  reason: string | null;
  admitted_at: Timestamp;
}

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

/** A view: contacts that changed within 24 hours. */
export interface ChangesOfLastDayView {
  source: string;
  contact_id: string;
  operation: 'upsert' | 'delete';
  field_groups: string[];
  changed_at: Timestamp;
}

/** A view: how many contacts of a source and segment have an address, phone or title. */
export interface CoverageBySegmentView {
  source: string;
  segment: string;
  segment_value: string | null;
  contacts: string;
  emails: string;
  verified_emails: string;
  phones: string;
  titles: string;
}

/** A view: current values, the oldest first. */
export interface OldestValuesView {
  source: string;
  contact_id: string;
  field_group: string;
  value: Json<Record<string, unknown>>;
  observed_at: Timestamp;
  age: string;
}

/** A view: people with more than one contact. */
export interface DuplicateContactsView {
  service: string;
  person_id: string | null;
  first_name: string | null;
  last_name: string | null;
  contacts: string;
  contact_ids: string[];
}

/** A view: moves that the newest finished run detected, with the person's name and contacts. */
export interface JobChangesOfLastRunView extends JobChangesView {
  first_name: string | null;
  last_name: string | null;
  contact_ids: string[];
}

export interface QuestionsTables {
  job_changes_of_last_run: JobChangesOfLastRunView;
  contact_phones: ContactPhonesView;
  run_costs: RunCostsView;
  calls_without_data: CallsWithoutDataView;
  row_results: RowResultsView;
  changes_of_last_day: ChangesOfLastDayView;
  coverage_by_segment: CoverageBySegmentView;
  oldest_values: OldestValuesView;
  duplicate_contacts: DuplicateContactsView;
}
