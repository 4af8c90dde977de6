import type { Generated } from 'kysely';
import type { DeliveryStatus } from '../domain/late-results/delivery-kinds.ts';
import type { AttemptStatus } from '../domain/money/attempt-status.ts';
import type { BudgetPeriod } from '../domain/money/budget-periods.ts';
import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { Outcome } from '../domain/runs/outcome.ts';
import type { ContactColumns } from '../domain/warehouse/person-columns.ts';
import type { Decimal, GeneratedTimestamp, Json, Timestamp } from './schema/column-types.ts';
import type { RunTables } from './schema/run-tables.ts';

/** Tables and views that only raw SQL uses. `sql` has their columns. */
type RawTables = Record<
  | 'analyst_roles'
  | 'budget_alarms'
  | 'calls_without_data'
  | 'changes_of_last_day'
  | 'contact_decisions'
  | 'contact_history'
  | 'contact_keys'
  | 'contact_matches'
  | 'contact_phones'
  | 'contact_records'
  | 'coverage_by_segment'
  | 'current_values'
  | 'digest_lock'
  | 'digest_queue'
  | 'duplicate_contacts'
  | 'employment_history'
  | 'erasures'
  | 'field_provenance'
  | 'job_changes'
  | 'job_changes_of_last_run'
  | 'lookup_history'
  | 'lookup_runs'
  | 'observation_log'
  | 'observations'
  | 'oldest_values'
  | 'organization_facts'
  | 'organization_values'
  | 'organizations'
  | 'people'
  | 'person_emails'
  | 'person_history'
  | 'person_keys'
  | 'person_phones'
  | 'prune_candidates'
  | 'quarantined_people'
  | 'rate_reports'
  | 'rate_scopes'
  | 'run_calls'
  | 'run_costs'
  | 'run_credits'
  | 'run_late_results'
  | 'run_outcomes'
  | 'run_waste'
  | 'settlements'
  | 'suppressed_keys'
  | 'value_changes_of_last_day',
  Readonly<Record<string, unknown>>
>;

/**
 * The tables and views of the schema `enrichment`, as queries of Kysely use them. The files of `sql` have the meaning
 * of columns.
 */
export interface Tables extends RawTables, RunTables {
  attempts: {
    attempt_id: string;
    run_id: string;
    batch: number;
    status: AttemptStatus;
    reason: string | null;
    people: number;
    request_id: string | null;
    credits_reserved: Decimal;
    credits_settled: Decimal | null;
    budget_ids: string[];
    token_hash: Buffer | null;
    http_status: number | null;
    awaits: Generated<string[]>;
    credits_answered: Decimal | null;
    credits_stated: Decimal | null;
    found_ids: Generated<string[]>;
    found_people: Generated<number>;
    awaited_until: Timestamp | null;
    next_poll_at: Timestamp | null;
    polls: Generated<number>;
    phones_with_earlier: Generated<boolean>;
    admitted_at: GeneratedTimestamp;
    answered_at: Timestamp | null;
    decided_at: Timestamp | null;
    closed_at: Timestamp | null;
  };
  attempt_people: {
    attempt_id: string;
    detail_index: number;
    run_id: string;
    row_number: number;
    outcome: Outcome | null;
    person_id: string | null;
    evidence: string | null;
  };
  raw_answers: {
    attempt_id: string;
    received_at: GeneratedTimestamp;
    /** gzip of the original body: bytea, because a body need not be valid text or JSON. */
    body_gzip: Buffer;
    unrecorded_keys: Generated<string[]>;
  };
  budgets: {
    budget_id: string;
    credits_limit: Decimal | null;
    reserved: Generated<Decimal>;
    settled: Generated<Decimal>;
    set_by_command: Generated<boolean>;
  };
  /** Limits of new periods that a person has set; without a row the settings of the processes apply. */
  default_budgets: {
    period: BudgetPeriod;
    credits_limit: Decimal | null;
  };
  /** A row for each period, once a worker has started. Null: the worker has no setting. */
  worker_budgets: Tables['default_budgets'];
  budget_changes: {
    change_id: Generated<string>;
    changed_at: GeneratedTimestamp;
    budget_id: string;
    old_limit: Decimal | null;
    new_limit: Decimal | null;
    changed_by: string;
    reason: string | null;
  };
  credit_statements: {
    statement_id: Generated<string>;
    service: string;
    run_id: string | null;
    consumed: Decimal;
    cycle_start: string | null;
    cycle_end: string | null;
    read_at: GeneratedTimestamp;
  };
  rate_calls: {
    call_id: string;
    scope: string;
    started_at: GeneratedTimestamp;
    counted_until: Timestamp;
    abandoned: Generated<boolean>;
    position: string | null;
  };
  /** Batches that wait to be admitted: calls of lower priorities leave a slot free for each. */
  waiting_batches: {
    run_id: string;
    batch: number;
    /** When the registration expires: a batch that still waits registers again before. */
    waits_until: Timestamp;
  };
  webhook_deliveries: {
    delivery_id: string;
    attempt_id: string | null;
    run_id: string | null;
    origin: Generated<'webhook' | 'poll'>;
    /** The original bytes, not decompressed. Null: retention has removed them. */
    body: Buffer | null;
    content_encoding: string | null;
    body_sha256: Buffer;
    received_at: GeneratedTimestamp;
    status: Generated<DeliveryStatus>;
    reason: string | null;
    applied_at: Timestamp | null;
    late: Generated<boolean>;
    subject: string | null;
    covers: Generated<string[]>;
    brings: Generated<string[]>;
    person_ids: Generated<string[]>;
    credits: Decimal | null;
  };
  notifications: {
    notification_id: Generated<string>;
    event: NotifiedEvent;
    run_id: string | null;
    /** A run's pause reason; a schedule's time and reason; a budget's threshold and credits. */
    facts: Json<Record<string, unknown>> | null;
    occurred_at: GeneratedTimestamp;
    /** Channels that have accepted the notification: `url`, `command`. */
    told: Generated<string[]>;
    tries: Generated<number>;
    next_try_at: GeneratedTimestamp;
    /** Why the last try failed; null: it did not fail. */
    failure: string | null;
    /** When all channels accepted the notification, or the worker stopped trying. */
    closed_at: Timestamp | null;
  };
  enriched_contacts: ContactColumns & {
    source: string;
    contact_id: string;
    enriched_at: Timestamp;
    attempt_id: string;
    run_id: string;
    row_number: number;
    service: string;
    person_key: string;
  };
  contacts: {
    source: string;
    contact_id: string;
    service: string;
    person_key: string;
    match_id: string;
    evidence: string;
    asked: boolean;
    run_id: string;
    row_number: number;
  };
  changes: {
    change_id: Generated<string>;
    operation: 'upsert' | 'delete';
    source: string;
    contact_id: string;
    field_groups: string[];
    changed_at: GeneratedTimestamp;
  };
  changes_pruned: {
    singleton: Generated<boolean>;
    pruned_change_id: string;
  };
  suppression_entries: {
    entry_id: Buffer;
    kind: 'email' | 'profile' | 'person' | 'hash' | 'name' | 'domain' | 'record';
    domain: string | null;
    reason: string | null;
    added_by: string;
    added_at: GeneratedTimestamp;
  };
  row_results: {
    run_id: string;
    row_number: number;
    source: string;
    contact_id: string;
    outcome: string | null;
    reason: string | null;
    lost_reason: string | null;
    lost_at: Timestamp | null;
  };
}
