import type { ColumnType } from 'kysely';
import type { Timestamp, Json } from './column-types.ts';

/** A view: the call and run of each current value of a contact, by group of fields. */
export interface FieldProvenanceView {
  source: string;
  contact_id: string;
  /** A group of `personFieldGroups` that contacts have. */
  field_group: string;
  /** An object of the group's columns. */
  value: Json<Record<string, unknown>>;
  /** When the service was asked. */
  observed_at: Timestamp;
  run_id: string;
  attempt_id: string;
  delivery_id: string | null;
}

/** A view: current and earlier values of each group of fields of a contact, without undone runs. */
export interface ContactHistoryView extends Omit<FieldProvenanceView, 'observed_at'> {
  /** When the value took effect in the warehouse. */
  valid_from: Timestamp;
  /** Null: current. */
  valid_to: Timestamp | null;
}

/** A view: people who moved to another employer, one row for each move. */
export interface JobChangesView {
  service: string;
  person_key: string;
  person_id: string | null;
  detected_at: Timestamp;
  from_title: string | null;
  from_organization: string | null;
  from_domain: string | null;
  to_title: string | null;
  to_organization: string | null;
  to_domain: string | null;
  started_at: ColumnType<Date, Date | string, Date | string> | null;
  /** The second sign: `start_date` or `email`. */
  evidence: 'start_date' | 'email';
  /** The run that detected the move. */
  run_id: string;
  observation_id: string;
}

export interface PeopleHistoryTables {
  field_provenance: FieldProvenanceView;
  contact_history: ContactHistoryView;
  job_changes: JobChangesView;
}
