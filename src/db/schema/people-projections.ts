import type { ContactColumns, PersonColumns } from '../../domain/warehouse/person-columns.ts';
import type { Generated } from 'kysely';
import type { Decimal, Timestamp, GeneratedTimestamp, Json, View } from './column-types.ts';

/** A view: each contact with a valid match, with the current values of its person. */
export interface EnrichedContactsView extends ContactColumns {
  source: string;
  contact_id: string;
  /** When the newest answer about the person was asked for, and by which call. */
  enriched_at: Timestamp;
  attempt_id: string;
  /** The row of an export by which the contact was last matched. */
  run_id: string;
  row_number: number;
  service: string;
  person_key: string;
}

/** What is known about each person now: computed from the log by `enrichment.project`. */
export interface PeopleTable extends PersonColumns {
  service: string;
  person_key: string;
  organization_key: string | null;
  /** Read by the view `person_emails`. */
  emails: Json<readonly Record<string, unknown>[]>;
  /** Read by the view `person_phones`, the best number first. */
  phones: Json<readonly Record<string, unknown>[]>;
  /** Read by the view `employment_history`. */
  employment: Json<readonly Record<string, unknown>[]>;
  /** Field group → `observation_id`, for each group that has a value. */
  said_by: Json<Record<string, number>>;
  /** When the newest answer was asked for, and by which run and call. */
  enriched_at: Timestamp;
  run_id: string;
  attempt_id: string;
}

/** The columns of `organizations` that are no lists. */
export interface OrganizationValuesTable {
  service: string;
  /** `id:…` or `domain:…`. */
  organization_key: string;
  organization_id: string | null;
  name: string | null;
  domain: string | null;
  website_url: string | null;
  linkedin_url: string | null;
  microblog_url: string | null;
  socialnet_url: string | null;
  logo_url: string | null;
  industry: string | null;
  employees: number | null;
  founded_year: number | null;
  annual_revenue: Decimal | null;
  annual_revenue_printed: string | null;
  total_funding: Decimal | null;
  total_funding_printed: string | null;
  latest_funding_stage: string | null;
  latest_funding_round_date: string | null;
  raw_address: string | null;
  street_address: string | null;
  city: string | null;
  state: string | null;
  postal_code: string | null;
  country: string | null;
  short_description: string | null;
  seo_description: string | null;
  phone: string | null;
  observation_id: string;
  observed_at: Timestamp;
  run_id: string;
}

/** Which person a contact is now: computed from `contact_matches` by `enrichment.project`. */
export interface ContactsTable {
  source: string;
  contact_id: string;
  service: string;
  person_key: string;
  match_id: string;
  evidence: string;
  asked: boolean;
  /** The row of the export by which it was matched. */
  run_id: string;
  row_number: number;
}

/**
 * The feed of changed and deleted contacts. Readers read only transactions below
 * `pg_snapshot_xmin(pg_current_snapshot())`.
 */
export interface ChangesTable {
  change_id: Generated<string>;
  transaction_id: Generated<string>;
  operation: 'upsert' | 'delete';
  source: string;
  contact_id: string;
  /** Groups whose values changed; empty: only the run or the row changed. */
  field_groups: string[];
  changed_at: GeneratedTimestamp;
}

/** The newest dropped cursor: readers with an older cursor have missed changes. At most one row. */
export interface ChangesPrunedTable {
  singleton: Generated<boolean>;
  pruned_transaction_id: string;
  pruned_change_id: string;
}

/**
 * Observations that newer ones may have replaced. Each change of a person or a company queues its observations again.
 */
export interface PruneCandidatesTable {
  observation_id: string;
  recorded_at: Timestamp;
  /** The transaction that queued the observation last. */
  queued_by: Generated<string>;
}

export interface PeopleProjectionsTables {
  enriched_contacts: EnrichedContactsView;
  people: PeopleTable;
  /** What is known about each company now, by the newest answer that described it. */
  organizations: View;
  organization_values: OrganizationValuesTable;
  contacts: ContactsTable;
  changes: ChangesTable;
  changes_pruned: ChangesPrunedTable;
  prune_candidates: PruneCandidatesTable;
  /** The addresses of each person. */
  person_emails: View;
  /** The phones of each person, with their deliveries. */
  person_phones: View;
  /** The jobs of each person, in the order of the service. */
  employment_history: View;
}
