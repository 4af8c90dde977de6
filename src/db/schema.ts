import type { LateResultsTables } from './schema/late-results.ts';
import type { LedgerTables } from './schema/ledger.ts';
import type { NotificationsTables } from './schema/notifications.ts';
import type { PeopleProjectionsTables } from './schema/people-projections.ts';
import type { PrivacyTables } from './schema/privacy.ts';
import type { QuestionsTables } from './schema/questions.ts';
import type { RunsTables } from './schema/runs.ts';

/** Tables and views that only raw SQL uses. `migrations/initial` has their columns. */
type RawTables = Record<
  | 'analyst_roles'
  | 'budget_alarms'
  | 'calls_without_data'
  | 'changes_of_last_day'
  | 'contact_decisions'
  | 'contact_history'
  | 'contact_matches'
  | 'contact_phones'
  | 'contact_records'
  | 'coverage_by_segment'
  | 'duplicate_contacts'
  | 'employment_history'
  | 'erasures'
  | 'field_provenance'
  | 'job_changes'
  | 'job_changes_of_last_run'
  | 'lookup_history'
  | 'lookup_runs'
  | 'observations'
  | 'oldest_values'
  | 'organization_facts'
  | 'organization_values'
  | 'organizations'
  | 'people'
  | 'person_emails'
  | 'person_phones'
  | 'prune_candidates'
  | 'quarantined_people'
  | 'rate_reports'
  | 'rate_scopes'
  | 'run_costs'
  | 'settlements'
  | 'suppressed_keys',
  Readonly<Record<string, unknown>>
>;

/**
 * The tables and views of the schema `enrichment`. A file of `schema/` has the types of tables that queries of Kysely
 * use. `migrations/initial/column-comments.ts` has the meaning of columns.
 */
export interface Tables
  extends
    LateResultsTables,
    LedgerTables,
    NotificationsTables,
    PeopleProjectionsTables,
    PrivacyTables,
    QuestionsTables,
    RawTables,
    RunsTables {}
