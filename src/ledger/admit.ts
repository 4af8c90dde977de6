import { randomUUID } from 'node:crypto';
import { sql, type Kysely, type Transaction } from 'kysely';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import type { RunPriority } from '../contract.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';
import { dropSuppressed } from '../privacy/drop-suppressed.ts';
import { lockSuppressionsShared } from '../privacy/suppressions.ts';
import { hashToken, newWebhookToken } from './webhook-token.ts';
import type { BudgetAlarm } from './budget-alarms.ts';
import { budgetsOf, mayFreeCredits, reserve, type BudgetLimits } from './credit-ledger.ts';
import { bulkMatchScope, acquireSlot, type Wait } from './rate-windows.ts';
import { reservedSlots } from './waiting-batches.ts';

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
 * budget and writes the attempt. After the commit the call may have been sent, even if this process ends.
 *
 * @returns the attempt, or the reason why the call must not be sent
 */
export async function admit(
  database: Kysely<Tables>,
  request: AdmissionRequest,
  limits: AdmissionLimits,
): Promise<Admission> {
  const budgetIds = await budgetsOf(database, request.runId, limits.budgets);
  return database.transaction().execute(async (transaction): Promise<Admission> => {
    // Before any other lock: no person can be added to the suppression list until the call is admitted.
    await lockSuppressionsShared(transaction);
    if (!(await lockOpenRows(transaction, request))) return { kind: 'taken' };
    const asked = sql`select unnest(${request.rowNumbers}::int[])`;
    if ((await dropSuppressed(transaction, request.runId, asked)) > 0) return { kind: 'taken' };
    const attemptId = randomUUID();
    const kept = await reservedSlots(transaction, request.priority);
    const place = await acquireSlot(
      transaction,
      {
        service: limits.service,
        scope: bulkMatchScope,
        callId: attemptId,
        deadlineSeconds: request.deadlineSeconds,
      },
      limits.rateLimits,
      kept,
    );
    if (place.kind === 'full') return { ...place, kind: 'wait' };

    // After every lock that can block: a run that was paused or cancelled in the meantime sends no call.
    const run = await sql<{ status: string }>`
      select status from runs where run_id = ${request.runId}
    `.execute(transaction);
    const status = run.rows[0]?.status ?? 'missing';
    if (status !== 'running') {
      await sql`delete from rate_calls where call_id = ${attemptId}`.execute(transaction);
      return { kind: 'not_running', status };
    }

    const affordable = await reserve(
      transaction,
      budgetIds,
      limits.budgets,
      request.creditsPerPerson,
      request.rowNumbers.length,
    );
    if (affordable.people === 0) {
      const budget = affordable.shortBudget ?? 'none';
      await sql`delete from rate_calls where call_id = ${attemptId}`.execute(transaction);
      return {
        kind: 'over_budget',
        budget,
        mayFreeCredits: await mayFreeCredits(transaction, budget),
        alarms: affordable.alarms,
      };
    }
    const rowNumbers = request.rowNumbers.slice(0, affordable.people);
    const token = request.lateResults ? newWebhookToken() : undefined;
    await sql`
      with waited as (
        delete from waiting_batches where run_id = ${request.runId} and batch = ${request.batch}
      )
      insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids, token_hash)
      values (${attemptId}, ${request.runId}, ${request.batch}, 'admitted', ${rowNumbers.length},
        ${formatCredits(request.creditsPerPerson * BigInt(rowNumbers.length))}::numeric, ${budgetIds}::text[],
        ${token === undefined ? null : hashToken(token)})
    `.execute(transaction);
    await sql`
      insert into attempt_people (attempt_id, detail_index, run_id, row_number)
      select ${attemptId}, place - 1, ${request.runId}, row_number
      from unnest(${rowNumbers}::int[]) with ordinality as asked (row_number, place)
    `.execute(transaction);
    return { kind: 'admitted', attemptId, rowNumbers, token, alarms: affordable.alarms };
  });
}

/**
 * Locks the rows of a call.
 *
 * An activity that Temporal has abandoned may still run, because its worker lost Temporal and not the database. Only
 * the first of two activities may send the same people.
 *
 * @returns false if a row has an outcome or is part of a call in flight
 */
async function lockOpenRows(
  transaction: Transaction<Tables>,
  { runId, rowNumbers }: AdmissionRequest,
): Promise<boolean> {
  const open = await sql`
    select 1
    from run_rows r
    where r.run_id = ${runId}
      and r.row_number = any(${rowNumbers}::int[])
      and r.outcome is null
    order by r.row_number
    for update
  `.execute(transaction);
  if (open.rows.length < rowNumbers.length) return false;
  const inFlight = await sql`
    select 1
    from attempt_people p
    join attempts a using (attempt_id)
    where p.run_id = ${runId}
      and p.row_number = any(${rowNumbers}::int[])
      and a.status = 'admitted'
    limit 1
  `.execute(transaction);
  return inFlight.rows.length === 0;
}
