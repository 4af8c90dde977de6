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
  awaits: Generated<string[]>;
  credits_answered: Decimal | null;
  /** What answer and deliveries state together, at least. Null before the first delivery. */
  credits_stated: Decimal | null;
  found_ids: Generated<string[]>;
  /** Number of found people: the largest of the people in the answer, its own count, and its bill. */
  found_people: Generated<number>;
  awaited_until: Timestamp | null;
  /** Null: nothing to poll, or polling has ended. */
  next_poll_at: Timestamp | null;
  polls: Generated<number>;
  /** The service reported `skipped`: the phones of an earlier request for the same people also count for this call. */
  phones_with_earlier: Generated<boolean>;
  admitted_at: GeneratedTimestamp;
  answered_at: Timestamp | null;
  decided_at: Timestamp | null;
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

export interface BudgetsTable {
  /** `run:<run_id>`, `day:2026-11-21`, `month:2026-11`; periods are UTC. */
  budget_id: string;
  credits_limit: Decimal | null;
  reserved: Generated<Decimal>;
  settled: Generated<Decimal>;
  set_by_command: Generated<boolean>;
}

/** Limits of new periods that a person has set; without a row the settings of the processes apply. */
export interface DefaultBudgetsTable {
  period: BudgetPeriod;
  credits_limit: Decimal | null;
}

/** A row for each period, once a worker has started. Null: the worker has no setting. */
export type WorkerBudgetsTable = DefaultBudgetsTable;

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

export interface CreditStatementsTable {
  statement_id: Generated<string>;
  service: string;
  /** The run that began or ended; null for a statement that a command asked for. */
  run_id: string | null;
  consumed: Decimal;
  cycle_start: string | null;
  cycle_end: string | null;
  read_at: GeneratedTimestamp;
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
  /** Whether the call ended without an answer: the service may still receive it. */
  abandoned: Generated<boolean>;
  /** Position among the ended calls of the scope, by `counted_until`; null until the first admission after the end. */
  position: string | null;
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

export interface LedgerTables {
  attempts: AttemptsTable;
  attempt_people: AttemptPeopleTable;
  raw_answers: RawAnswersTable;
  budgets: BudgetsTable;
  default_budgets: DefaultBudgetsTable;
  worker_budgets: WorkerBudgetsTable;
  budget_changes: BudgetChangesTable;
  credit_statements: CreditStatementsTable;
  rate_calls: RateCallsTable;
  waiting_batches: WaitingBatchesTable;
}
