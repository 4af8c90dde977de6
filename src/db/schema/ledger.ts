import type { AttemptStatus } from '../../domain/money/attempt-status.ts';
import type { BudgetPeriod } from '../../domain/money/budget-periods.ts';
import type { Generated } from 'kysely';
import type { Decimal, Timestamp, GeneratedTimestamp } from './column-types.ts';

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
  /** Position among the ended calls of the scope, by `counted_until`; null until the first admission after the end. */
  position: string | null;
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
 * A batch that is ready for its call: calls of lower priorities leave a slot free for it. Runs of the lowest have
 * none here.
 */
export interface WaitingBatchesTable {
  run_id: string;
  batch: number;
  /** It is admitted or says so again before then; believed no longer. */
  waits_until: Timestamp;
}

/** Credits that a transaction settles when it commits. */
export interface SettlementsTable {
  budget_ids: string[];
  released: string;
  consumed: string;
}

export interface LedgerTables {
  attempts: AttemptsTable;
  attempt_people: AttemptPeopleTable;
  raw_answers: RawAnswersTable;
  quarantined_people: QuarantinedPeopleTable;
  budgets: BudgetsTable;
  settlements: SettlementsTable;
  default_budgets: DefaultBudgetsTable;
  budget_changes: BudgetChangesTable;
  budget_alarms: BudgetAlarmsTable;
  credit_statements: CreditStatementsTable;
  rate_scopes: RateScopesTable;
  rate_calls: RateCallsTable;
  rate_reports: RateReportsTable;
  waiting_batches: WaitingBatchesTable;
}
