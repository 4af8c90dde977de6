import { randomUUID } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import type { RunPriority } from '../contract.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';
import { dropSuppressed } from '../privacy/drop-suppressed.ts';
import { lockSuppressionsShared } from '../privacy/suppressions.ts';
import { hashToken, newWebhookToken } from './webhook-token.ts';
import type { BudgetAlarm } from './budget-alarms.ts';
import { ownLimits, type BudgetLimits } from './credit-ledger.ts';
import { bulkMatchScope, describeWait, type SlotWait, type Wait } from './rate-windows.ts';

export interface AdmissionRequest {
  readonly runId: string;
  readonly batch: number;
  readonly priority: RunPriority;
  /** Rows of the export, in the order of `details` in the request. */
  readonly rowNumbers: readonly number[];
  /** Worst case for one person. */
  readonly creditsPerPerson: Credits;
  /** Longest time from admission to the end of the call, in seconds. */
  readonly deadlineSeconds: number;
  /** Whether the request asks for late results, which need a webhook address with a token. */
  readonly lateResults: boolean;
}

export interface AdmissionLimits {
  /** Name of the service in the options of runs. */
  readonly service: string;
  readonly rateLimits: readonly RateLimit[];
  readonly budgets: BudgetLimits;
}

export type Admission =
  | {
      readonly kind: 'admitted';
      readonly attemptId: string;
      /** The first of the requested rows: as many as every budget can pay. */
      readonly rowNumbers: readonly number[];
      /** Part of the webhook address. The database stores only its hash. */
      readonly token: string | undefined;
      readonly alarms: readonly BudgetAlarm[];
    }
  | ({ readonly kind: 'wait' } & Wait)
  | {
      readonly kind: 'over_budget';
      readonly budget: string;
      readonly mayFreeCredits: boolean;
      readonly alarms: readonly BudgetAlarm[];
    }
  /** Another worker answered, suppressed or is calling for some of the people. */
  | { readonly kind: 'taken' }
  /** The run was paused or cancelled, or has ended. */
  | { readonly kind: 'not_running'; readonly status: string };

/**
 * Admits one call in one transaction: acquires a slot in every rate window, reserves the worst-case credits in every
 * budget and writes the attempt. After the commit the call may have been sent, even if this process ends. The function
 * `admit_call` of the database does it in one statement.
 *
 * @returns the attempt, or the reason why the call must not be sent
 */
export async function admit(
  database: Kysely<Tables>,
  request: AdmissionRequest,
  limits: AdmissionLimits,
): Promise<Admission> {
  const admission = await admitCall(database, request, limits, false);
  if (admission !== undefined) return admission;
  return database.transaction().execute(async (transaction) => {
    await lockSuppressionsShared(transaction);
    const asked = sql`select unnest(${request.rowNumbers}::int[])`;
    if ((await dropSuppressed(transaction, request.runId, asked)) > 0) return { kind: 'taken' };
    return (await admitCall(transaction, request, limits, true))!;
  });
}

/** What `admit_call` returns. */
type Decision =
  | { readonly kind: 'suppressions_unchecked' }
  | { readonly kind: 'wait'; readonly wait: SlotWait; readonly kept: number }
  | { readonly kind: 'admitted'; readonly people: number; readonly alarms: readonly BudgetAlarm[] }
  | Extract<Admission, { kind: 'over_budget' | 'taken' | 'not_running' }>;

/** @returns undefined if the suppression list has entries, and the people were not compared with them */
async function admitCall(
  database: Kysely<Tables>,
  request: AdmissionRequest,
  { service, rateLimits, budgets }: AdmissionLimits,
  suppressionsChecked: boolean,
): Promise<Admission | undefined> {
  const attemptId = randomUUID();
  const token = request.lateResults ? newWebhookToken() : undefined;
  const { rows } = await sql<{ decision: Decision }>`
    select admit_call(${attemptId}, ${request.runId}, ${request.batch}::integer, ${request.rowNumbers}::integer[],
      ${request.priority}, ${formatCredits(request.creditsPerPerson)}::numeric, ${request.deadlineSeconds}::float8,
      ${token === undefined ? null : hashToken(token)}::bytea, ${service}, ${bulkMatchScope},
      ${rateLimits.map((limit) => limit.calls)}::integer[], ${rateLimits.map((limit) => limit.seconds)}::integer[],
      ${ownLimits(budgets)}::jsonb, ${budgets.alarmsAt ?? []}::integer[], ${suppressionsChecked}) as decision
  `.execute(database);
  const { decision } = rows[0]!;
  switch (decision.kind) {
    case 'suppressions_unchecked':
      return undefined;
    case 'wait':
      return { kind: 'wait', ...describeWait(decision.wait, decision.kept) };
    case 'admitted': {
      const rowNumbers = request.rowNumbers.slice(0, decision.people);
      return { kind: 'admitted', attemptId, rowNumbers, token, alarms: decision.alarms };
    }
    case 'taken':
    case 'not_running':
    case 'over_budget':
      return decision;
  }
}
