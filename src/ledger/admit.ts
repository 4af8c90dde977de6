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
  /** Rows of the export, in the order in which they will stand in `details`. */
  readonly rowNumbers: readonly number[];
  /** The most that one of them can cost. */
  readonly creditsPerPerson: Credits;
  /** The longest that the call can take from admission on, in seconds. */
  readonly deadlineSeconds: number;
  /** Whether results can come later and need an address with a token. */
  readonly lateResults: boolean;
}

export interface AdmissionLimits {
  /** Which service is called, as the runs name it. */
  readonly service: string;
  readonly rateLimits: readonly RateLimit[];
  readonly budgets: BudgetLimits;
}

export type Admission =
  | {
      readonly kind: 'admitted';
      readonly attemptId: string;
      /** The first of the rows asked for: as many as the budgets hold. */
      readonly rowNumbers: readonly number[];
      /** Unguessable part of the webhook address; only its hash is stored. */
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
  /**
   * Some of the people have their outcome by now (also because they are on the suppression list), or are being asked
   * for by a worker that was thought to be dead.
   */
  | { readonly kind: 'taken' }
  /** The run is not running: it was paused, cancelled or has ended. */
  | { readonly kind: 'not_running'; readonly status: string };

/**
 * Admits one call, in one short transaction: a slot in every rate window, the worst-case credits in every budget, and
 * the attempt's row. Either all of them exist afterwards or none. From its commit on the call may have been sent,
 * whatever becomes of this process.
 */
export async function admit(
  database: Kysely<Tables>,
  request: AdmissionRequest,
  limits: AdmissionLimits,
): Promise<Admission> {
  const budgetIds = await budgetsOf(database, request.runId, limits.budgets);
  return database.transaction().execute(async (transaction): Promise<Admission> => {
    // First of all: from here on the list cannot grow before the call is admitted.
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

    // After every lock that can be waited for: a run that was paused or cancelled meanwhile sends nothing more.
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
 * Locks the rows that are to be asked for.
 *
 * An activity that Temporal has abandoned may still run: its worker lost Temporal and not the database. Whoever admits
 * second must not send the same people again.
 *
 * @returns false where one of them has an outcome, or is part of a call that is in flight
 */
async function lockOpenRows(
  transaction: Transaction<Tables>,
  { runId, rowNumbers }: AdmissionRequest,
): Promise<boolean> {
  const open = await sql`
    select 1 from run_rows r where r.run_id = ${runId} and r.row_number = any(${rowNumbers}::int[]) and r.outcome is null
    order by r.row_number for update
  `.execute(transaction);
  if (open.rows.length < rowNumbers.length) return false;
  const inFlight = await sql`
    select 1 from attempt_people p join attempts a using (attempt_id)
    where p.run_id = ${runId} and p.row_number = any(${rowNumbers}::int[]) and a.status = 'admitted' limit 1
  `.execute(transaction);
  return inFlight.rows.length === 0;
}
