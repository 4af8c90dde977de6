import type { AttemptStatus } from '../../domain/money/attempt-status.ts';
import type { BudgetPeriod } from '../../domain/money/budget-periods.ts';
import type { Outcome } from '../../domain/runs/outcome.ts';
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
   * Budgets that the credits are reserved in. Set at admission, so that a call over midnight settles in the same
   * budgets.
   */
  budget_ids: string[];
  token_hash: Buffer | null;
  http_status: number | null;
  /** Awaited late results (`LateKind`); empty: none. */
  awaits: Generated<string[]>;
  /** Credits that the answer states, without late results; null: the answer states none. */
  credits_answered: Decimal | null;
  /** The service's ids of the people in the answer: late results are for them. */
  found_ids: Generated<string[]>;
  /** Number of found people: the largest of the people in the answer, its own count, and its bill. */
  found_people: Generated<number>;
  /** When the run stops waiting for late results. */
  awaited_until: Timestamp | null;
  /** Null: nothing to poll, or polling has ended. */
  next_poll_at: Timestamp | null;
  polls: Generated<number>;
  /** The service reported `skipped`: the phones of an earlier request for the same people also count for this call. */
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
  outcome: Outcome | null;
  person_id: string | null;
  evidence: string | null;
}

export interface RawAnswersTable {
  attempt_id: string;
  received_at: GeneratedTimestamp;
  /** gzip of the original body: bytea, because a body need not be valid text or JSON. */
  body_gzip: Buffer;
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
  /** Whether a person has set the limit by command. Settings then do not change it. */
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

/** Thresholds that a budget has crossed: each one once for each limit of the budget. */
export interface BudgetAlarmsTable {
  budget_id: string;
  percent: number;
  credits_limit: Decimal;
  /** Settled and reserved credits at that time. */
  used: Decimal;
  crossed_at: GeneratedTimestamp;
}

/** The service's statements of the credits that the team has consumed in a credit cycle. */
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
   * The endpoint whose calls are counted together, such as `people/bulk_match`. Shared by all addresses, because two
   * addresses can be the same service.
   */
  scope: string;
  paused_until: Timestamp | null;
  pause_reason: string | null;
  refused_at: Timestamp | null;
  /** Refusals in a row. While above zero, only one call at a time is sent, as a probe. */
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

/** A rate window of an endpoint as the service last reported it. Other programs of the team use the same window. */
export interface RateReportsTable {
  /** The service that reported the window, as in `RunOptions`. */
  service: string;
  scope: string;
  seconds: number;
  /** Calls that the window allows. The largest integer: unlimited, or not reported. */
  calls_limit: number;
  /** The lowest reported number of calls that are left in the current window. */
  calls_left: number;
  /** When the service last reported `calls_left`. */
  said_at: Timestamp;
  /** When the current window has ended at the latest. Only the limit of the next window is then known. */
  believed_until: Timestamp;
}

/**
 * A batch that waits to be admitted. Calls of lower priorities leave a slot free for the batch. Batches of the lowest
 * priority do not register.
 */
export interface WaitingBatchesTable {
  run_id: string;
  batch: number;
  /** When the registration expires: a batch that still waits registers again before. */
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
