import type { AttemptStatus } from '../domain/money/attempt-status.ts';
import type { DeliveryKind } from '../domain/late-results/awaited-results.ts';
import type { DeliveryStatus } from '../domain/late-results/delivery-status.ts';
import type { ContactColumns, PersonColumns } from '../domain/identity/person-field-groups.ts';
import type { BudgetPeriod } from '../domain/money/budget-periods.ts';
import type { ColumnType, Generated } from 'kysely';
import type { StatusReason } from '../contract.ts';
import type { ExportProfile } from '../domain/runs/expectations.ts';
import type { MatchRate } from '../domain/runs/match-rate.ts';
import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { RunOptions } from './run-options.ts';

/** PostgreSQL `numeric` and `bigint` travel as text: a float would round money and identifiers. */
type Decimal = string;
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type Json<Value> = ColumnType<Value, string, string>;

export interface RunsTable {
  run_id: string;
  /**
   * Hash of file content and options; unique among unfinished runs, so that the same command continues the run.
   */
  run_key: string;
  workflow_id: string;
  status: string;
  pause_reason: Json<StatusReason> | null;
  source: string | null;
  file_path: string;
  file_name: string;
  file_sha256: string;
  options: Json<RunOptions>;
  header: string[] | null;
  /** Raw header → canonical field, as it was chosen. */
  mapping: Json<Record<string, string>> | null;
  /** What was odd about the file and could be read all the same. */
  warnings: Generated<string[]>;
  /** Records staged so far; with `ingested_at` set, the rows of the file. */
  rows_staged: Generated<number>;
  /** Up to this row number the rows say nothing of people any more: their retention has passed. */
  rows_pruned: Generated<number>;
  ingested_at: Timestamp | null;
  /** Counts of the file, for the expectations of later runs. */
  export_profile: Json<ExportProfile> | null;
  plan: Json<Record<string, unknown>> | null;
  plan_hash: string | null;
  /** The plan that `--plan HASH` binds the run to. */
  expected_plan_hash: string | null;
  as_of: GeneratedTimestamp;
  created_at: GeneratedTimestamp;
  approved_at: Timestamp | null;
  finished_at: Timestamp | null;
  pilot: Json<PilotFigures> | null;
  /** The guard of the match rate counts calls that were answered since. */
  match_rate_since: Timestamp | null;
  /** Since then its entries of the log do not count. */
  undone_at: Timestamp | null;
  undone_by: string | null;
  undone_reason: string | null;
  /** Not all people and contacts were computed anew since it was undone, or since that was taken back. */
  undo_unfinished: Generated<boolean>;
}

/** The results of a run's pilot; credits are decimal text. */
export interface PilotFigures {
  readonly people: number;
  readonly answered: number;
  readonly found: number;
  readonly match_rate: MatchRate | null;
  readonly credits: { readonly settled: string; readonly held: string };
  /** Number of contacts that have the field, and the credits for each; null: no contact has it. */
  readonly fields: Readonly<Record<string, { readonly count: number; readonly credits_each: string | null }>>;
}

export interface RunRowsTable {
  run_id: string;
  row_number: number;
  contact_id: string;
  outcome: string | null;
  reason: string | null;
  /** The record's cells as a JSON array in the order of `runs.header`: text, because jsonb refuses \u0000. */
  raw: string;
  person_id: string | null;
  email: string | null;
  other_emails: string[] | null;
  hashed_email: string | null;
  profile_url: string | null;
  first_name: string | null;
  last_name: string | null;
  name: string | null;
  organization_name: string | null;
  domain: string | null;
  opted_out: Generated<boolean>;
  /** The row or, once planned, any row of the same person opted out of calls: no phone is asked for. */
  opted_out_of_calls: Generated<boolean>;
  /** Identity keys (`identityKeys` of the domain): what duplicates, freshness and claims are decided by. */
  keys: string[];
  /** `matchKeysOfIdentity` of the domain: what the rows that a person could fit are found by. */
  match_keys: Generated<number[]>;
  /** Of a suppressed row whose cells are cleared: their hash, to tell whether the contact's record has changed. */
  identity_hash: Buffer | null;
}

/** The people that a plan asks for, in the order of the file; position 0 is the first person of batch 1 of page 1. */
export interface RunPeopleTable {
  run_id: string;
  position: number;
  row_number: number;
  /** Groups of fields that the call leaves out: they are fresh, or the person opted out of calls. */
  left_out: Generated<string[]>;
}

export interface AttemptsTable {
  attempt_id: string;
  run_id: string;
  batch: number;
  status: AttemptStatus;
  reason: string | null;
  people: number;
  request_id: string | null;
  credits_reserved: Decimal;
  credits_settled: Decimal | null;
  /**
   * Budgets that hold the reservation: fixed at admission, so that a call over midnight settles where it was
   * reserved.
   */
  budget_ids: string[];
  token_hash: Buffer | null;
  http_status: number | null;
  /** Results that are still to come (`LateKind`); empty where everything is there. */
  awaits: Generated<string[]>;
  /** Credits of the answer alone; null where it does not say. */
  credits_answered: Decimal | null;
  /** People of the answer, by the service's id: whose phones are to come. */
  found_ids: Generated<string[]>;
  /** How many were found by whatever the answer says: people, its own count, or what it billed. */
  found_people: Generated<number>;
  /** When a run stops waiting for the results. */
  awaited_until: Timestamp | null;
  /** Null: there is nothing to poll, or polling will never help. */
  next_poll_at: Timestamp | null;
  polls: Generated<number>;
  /** `skipped`: an earlier request for the same people is in flight, and its phones are for this one as well. */
  phones_with_earlier: Generated<boolean>;
  admitted_at: GeneratedTimestamp;
  answered_at: Timestamp | null;
  closed_at: Timestamp | null;
}

export interface AttemptPeopleTable {
  attempt_id: string;
  detail_index: number;
  run_id: string;
  row_number: number;
  outcome: string | null;
  person_id: string | null;
  evidence: string | null;
}

export interface RawAnswersTable {
  attempt_id: string;
  received_at: GeneratedTimestamp;
  content_type: string | null;
  /** gzip of the body as it came: bytea, because what came from outside need not be valid text or JSON. */
  body_gzip: Buffer;
  /** Hashed keys of the people in it who fit no row: an erasure finds the body by them. */
  unmatched_keys: Generated<number[]>;
}

/** People in an answer who match no row, and why; their data stays in the raw answer. */
export interface QuarantinedPeopleTable {
  attempt_id: string;
  match_index: number;
  reason: string;
  created_at: GeneratedTimestamp;
}

export interface BudgetsTable {
  /** `run:<run_id>`, `day:2026-11-21`, `month:2026-11`; periods are UTC. */
  budget_id: string;
  credits_limit: Decimal | null;
  reserved: Generated<Decimal>;
  settled: Generated<Decimal>;
  /** A person has set the limit: the settings of processes do not change it. */
  set_by_command: Generated<boolean>;
}

/** Limits of new periods that a person has set; without a row the settings of the processes apply. */
export interface DefaultBudgetsTable {
  period: BudgetPeriod;
  credits_limit: Decimal | null;
}

/** Every change of a limit: who, when, from what to what, and why. */
export interface BudgetChangesTable {
  change_id: Generated<string>;
  changed_at: GeneratedTimestamp;
  /** A budget, or `every-day` and the like for a default. */
  budget_id: string;
  old_limit: Decimal | null;
  new_limit: Decimal | null;
  /** A person, or `settings`. */
  changed_by: string;
  reason: string | null;
}

/** Thresholds that a budget has crossed: once for each, and once more where its limit was changed since. */
export interface BudgetAlarmsTable {
  budget_id: string;
  percent: number;
  credits_limit: Decimal;
  /** Settled and reserved at that moment. */
  used: Decimal;
  crossed_at: GeneratedTimestamp;
}

/** What the service says that the team has consumed since its credit cycle began. */
export interface CreditStatementsTable {
  statement_id: Generated<string>;
  service: string;
  /** The run that began or ended; null for a statement that a command asked for. */
  run_id: string | null;
  consumed: Decimal;
  /** As the service writes dates. */
  cycle_start: string | null;
  cycle_end: string | null;
  read_at: GeneratedTimestamp;
}

export interface RateScopesTable {
  /**
   * The endpoint whose calls are counted together, such as `people/bulk_match`: of every service, two addresses may
   * be one.
   */
  scope: string;
  paused_until: Timestamp | null;
  pause_reason: string | null;
  refused_at: Timestamp | null;
  /** Refusals in a row: while above zero one call at a time probes. */
  refusals: Generated<number>;
}

export interface RateCallsTable {
  call_id: string;
  scope: string;
  started_at: GeneratedTimestamp;
  /**
   * The latest moment at which the service may have counted the call: its deadline while in flight, its end
   * afterwards.
   */
  counted_until: Timestamp;
}

/** One rate window of an endpoint as its service last told of it; other programs of the team use the same windows. */
export interface RateReportsTable {
  /** Which service said so, as in `RunOptions`: what one has left says nothing of another. */
  service: string;
  scope: string;
  seconds: number;
  /** What the window holds each time it opens. The largest integer: unlimited, or not said. */
  calls_limit: number;
  /** The fewest that were said to be left of the window that is open. */
  calls_left: number;
  /** When `calls_left` was last said. */
  said_at: Timestamp;
  /** By then that window has certainly ended, and nothing is known of the one that follows but its limit. */
  believed_until: Timestamp;
}

/**
 * A batch that is ready for its call: calls of lower priorities leave a place free for it. Runs of the lowest have
 * none here.
 */
export interface WaitingBatchesTable {
  run_id: string;
  batch: number;
  /** It is admitted or says so again before then; believed no longer. */
  waits_until: Timestamp;
}

export interface ClaimsTable {
  identity_key: string;
  run_id: string;
  row_number: number;
  claimed_at: GeneratedTimestamp;
}

/** The last lookup of an identity: while the lookup is fresh, no run pays for the person again. */
export interface LookupHistoryTable {
  identity_key: string;
  field_group: string;
  outcome: string;
  asked_at: Timestamp;
  run_id: string;
  /** Which service was asked: what one answered says nothing of another. */
  service: Generated<string>;
}

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

export interface WebhookDeliveriesTable {
  delivery_id: string;
  attempt_id: string | null;
  run_id: string | null;
  /** `webhook`, or `poll` where we fetched it. */
  origin: Generated<'webhook' | 'poll'>;
  /** As it came: not decompressed, not parsed. Null: its retention has passed. */
  body: Buffer | null;
  content_encoding: string | null;
  body_sha256: Buffer;
  received_at: GeneratedTimestamp;
  status: Generated<DeliveryStatus>;
  reason: string | null;
  applied_at: Timestamp | null;
  /** Applied after its run had ended. */
  late: Generated<boolean>;
  /** Whose results of which kind it holds: of bodies with the same subject the dearest is billed, not their sum. */
  subject: string | null;
  /** The results that it speaks of, and those it has values for (`DeliveredPart`): no ids of people. */
  covers: Generated<string[]>;
  brings: Generated<string[]>;
  person_ids: Generated<string[]>;
  /** Null where the body does not say. */
  credits: Decimal | null;
}

/**
 * What one answer, delivery or poll said about one person. Entries are only appended, and removed by erasure and
 * retention.
 */
export interface ObservationsTable {
  observation_id: Generated<string>;
  /** Which service said it, as in `RunOptions`. */
  service: string;
  /** `person:` with the service's id; without an id `row:` with the row that got the person, or `seen:` with a hash. */
  person_key: string;
  /** The service's id. */
  person_id: string | null;
  /** `reused`: an earlier observation, appended for a run that did not have to pay for it again. */
  kind: 'answer' | DeliveryKind | 'reused';
  /** When the service was asked: the newest one speaks for the person. Of a reused one, when its origin was asked. */
  asked_at: Timestamp;
  /** When it took effect in the warehouse. */
  recorded_at: GeneratedTimestamp;
  run_id: string;
  /** The call that said it; of a reused one, the call of its origin. */
  attempt_id: string;
  delivery_id: string | null;
  origin_observation_id: string | null;
  /** `id:…`, `domain:…` or `name:…`; null where nothing is said about an employer. */
  organization_key: string | null;
  /** The employer as the answer described it: `organization_facts`. */
  organization_facts: Buffer | null;
  /** Identity keys that the answer confirms for the person: id, profile, addresses of their own. */
  identity_keys: string[];
  /** `matchKeysOfPerson` of the domain: every row that could be the person shares one. */
  match_keys: Generated<number[]>;
  /** By field group (`personFieldGroups`); then what else the interface document names, under its own names. */
  facts: Json<Record<string, unknown>>;
}

/** What answers said about a company: no personal data. */
export interface OrganizationFactsTable {
  /** SHA-256 of `facts`. */
  facts_hash: Buffer;
  facts: Json<Record<string, unknown>>;
}

/**
 * The cells of a CRM contact that decide who it is, of contacts that have a match: one entry for each run that
 * changed them.
 */
export interface ContactRecordsTable {
  source: string;
  contact_id: string;
  run_id: string;
  row_number: number;
  recorded_at: GeneratedTimestamp;
  person_id: string | null;
  email: string | null;
  other_emails: string[] | null;
  hashed_email: string | null;
  profile_url: string | null;
  first_name: string | null;
  last_name: string | null;
  name: string | null;
  organization_name: string | null;
  domain: string | null;
  keys: string[];
}

/** Decisions which person a contact is; the newest of a run that is not undone holds. */
export interface ContactMatchesTable {
  match_id: Generated<string>;
  source: string;
  contact_id: string;
  service: string;
  /** Null: the contact's cells contradict the person whom it was, or another contact could be that person as well. */
  person_key: string | null;
  /** Why: `Evidence` of the domain, or what contradicts. */
  evidence: string;
  /** False: the person was known already, and no call was made for the contact. */
  asked: boolean;
  run_id: string;
  /** The call that found the person. */
  attempt_id: string | null;
  /** 0: a row of another contact led to the decision. */
  row_number: number;
  /** Of weak evidence, the match keys of the row and of the person: rows and people that could be either share one. */
  match_keys: number[] | null;
  /** Of a decision to which the undo of a run has led, that run: the decision counts while the run is undone. */
  while_undone: string | null;
  /** Of an answer, when the service was asked: an older answer never replaces a newer decision. */
  decided_at: Timestamp;
  /** When it took effect in the warehouse. */
  recorded_at: GeneratedTimestamp;
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

/** What is known about each company now, by the newest answer that described it. */
export interface OrganizationsTable {
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
  industries: string[] | null;
  secondary_industries: string[] | null;
  keywords: string[] | null;
  technologies: string[] | null;
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
 * The feed of contacts that changed or went. Readers take transactions below
 * `pg_snapshot_xmin(pg_current_snapshot())`.
 */
export interface ChangesTable {
  change_id: Generated<string>;
  transaction_id: Generated<string>;
  operation: 'upsert' | 'delete';
  source: string;
  contact_id: string;
  /** Groups whose values changed; empty where the same values were said again. */
  field_groups: string[];
  changed_at: GeneratedTimestamp;
}

/** Up to where retention has dropped changes: readers behind it have missed some. At most one row. */
export interface ChangesPrunedTable {
  singleton: Generated<boolean>;
  pruned_transaction_id: string;
  pruned_change_id: string;
}

/** A view: who said each current value of a contact, by group of fields. */
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

/** A view: what each group of fields of a contact was. Undone runs leave no trace in it. */
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

/** A view: what each run cost, and what its calls brought. */
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

/** A view: people whom several contacts are. */
export interface DuplicateContactsView {
  service: string;
  person_id: string | null;
  first_name: string | null;
  last_name: string | null;
  contacts: string;
  contact_ids: string[];
}

/** A view: the addresses of each person. */
export interface PersonEmailsView {
  service: string;
  person_key: string;
  person_id: string | null;
  email: string;
  email_status: string | null;
  kind: string;
  position: number | null;
  observation_id: string;
}

/** A view: the numbers of each person, with the delivery that said each. */
export interface PersonPhonesView {
  service: string;
  person_key: string;
  person_id: string | null;
  /** E.164 where it can be read, otherwise as it came. */
  number: string;
  e164: string | null;
  raw_number: string | null;
  type: string | null;
  status: string | null;
  dnc_status: string | null;
  confidence: string | null;
  position: number;
  /** `reveal` or `waterfall`. */
  origin: string;
  asked_at: Timestamp;
  run_id: string;
  attempt_id: string;
  delivery_id: string | null;
  observation_id: string;
}

/** A view: the jobs of each person, in the order of the service. */
export interface EmploymentHistoryView {
  service: string;
  person_key: string;
  person_id: string | null;
  position: number;
  title: string | null;
  organization_name: string | null;
  organization_id: string | null;
  started_on: Date | null;
  ended_on: Date | null;
  current: boolean | null;
}

/**
 * Notifications to send: a run changed its status, or a budget crossed a threshold. Triggers fill the table.
 */
export interface NotificationsTable {
  notification_id: Generated<string>;
  event: NotifiedEvent;
  run_id: string | null;
  /** Of a run, why it stopped; of a budget, which threshold was crossed. */
  facts: Json<Record<string, unknown>> | null;
  occurred_at: GeneratedTimestamp;
  /** Channels that have taken it: `url`, `command`. */
  told: Generated<string[]>;
  tries: Generated<number>;
  next_try_at: GeneratedTimestamp;
  /** Why the last try failed; null where it did not. */
  failure: string | null;
  /** Told everywhere, or given up. */
  closed_at: Timestamp | null;
}

/** Roles that may read what an analyst needs, and nothing else: their rights are renewed by every migration. */
export interface AnalystRolesTable {
  role_name: string;
}

/** What lay where in which version, of exports that are fetched. */
export interface FetchedExportsTable {
  /** Without secrets. */
  address: string;
  etag: string;
  sha256: string;
  fetched_at: Generated<Timestamp>;
}

/** People whom no call may ask for, by the hashes of their keys. */
export interface SuppressionEntriesTable {
  /** SHA-256 of the identity key that was put on the list. */
  entry_id: Buffer;
  kind: 'email' | 'profile' | 'person' | 'hash' | 'name' | 'domain' | 'record';
  /** Of an entry of that kind, in clear: it is no personal data, and subdomains are matched by it. */
  domain: string | null;
  reason: string | null;
  added_by: string;
  added_at: GeneratedTimestamp;
}

/** The forms under which an entry is looked up. */
export interface SuppressedKeysTable {
  key_hash: Buffer;
  entry_id: Buffer;
}

/** Records of erasures, without the person. */
export interface ErasuresTable {
  erasure_id: string;
  erased_at: GeneratedTimestamp;
  erased_by: string;
  reason: string | null;
  /** How much was removed, by table. */
  removed: Json<Record<string, number>>;
}

/** The schema `enrichment`. */
export interface Tables {
  runs: RunsTable;
  run_rows: RunRowsTable;
  run_people: RunPeopleTable;
  attempts: AttemptsTable;
  attempt_people: AttemptPeopleTable;
  raw_answers: RawAnswersTable;
  quarantined_people: QuarantinedPeopleTable;
  budgets: BudgetsTable;
  default_budgets: DefaultBudgetsTable;
  budget_changes: BudgetChangesTable;
  budget_alarms: BudgetAlarmsTable;
  credit_statements: CreditStatementsTable;
  rate_scopes: RateScopesTable;
  rate_calls: RateCallsTable;
  rate_reports: RateReportsTable;
  waiting_batches: WaitingBatchesTable;
  claims: ClaimsTable;
  lookup_history: LookupHistoryTable;
  enriched_contacts: EnrichedContactsView;
  webhook_deliveries: WebhookDeliveriesTable;
  observations: ObservationsTable;
  organization_facts: OrganizationFactsTable;
  contact_records: ContactRecordsTable;
  contact_matches: ContactMatchesTable;
  people: PeopleTable;
  organizations: OrganizationsTable;
  contacts: ContactsTable;
  changes: ChangesTable;
  changes_pruned: ChangesPrunedTable;
  person_emails: PersonEmailsView;
  person_phones: PersonPhonesView;
  employment_history: EmploymentHistoryView;
  field_provenance: FieldProvenanceView;
  contact_history: ContactHistoryView;
  job_changes: JobChangesView;
  job_changes_of_last_run: JobChangesView;
  contact_phones: ContactPhonesView;
  run_costs: RunCostsView;
  calls_without_data: CallsWithoutDataView;
  changes_of_last_day: ChangesOfLastDayView;
  coverage_by_segment: CoverageBySegmentView;
  oldest_values: OldestValuesView;
  duplicate_contacts: DuplicateContactsView;
  notifications: NotificationsTable;
  analyst_roles: AnalystRolesTable;
  fetched_exports: FetchedExportsTable;
  suppression_entries: SuppressionEntriesTable;
  suppressed_keys: SuppressedKeysTable;
  erasures: ErasuresTable;
}
