import { sql, type RawBuilder, type Transaction } from 'kysely';
import { statusesWithoutCost, type AttemptStatus } from '../domain/money/attempt-status.ts';
import { formatCredits, parseStoredCredits } from '../domain/money/decimal.ts';
import { UsageProblem, type DecisionNote } from '../domain/problem.ts';
import { nounFor } from '../domain/text/format.ts';
import { settleReservation, releaseClaims } from './close-attempt.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { idStartsWith, nameList, requireSingleMatch } from '../db/expressions.ts';
import { filledWithoutCallNote } from '../domain/runs/outcome.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';

/** One bulk call as `enrich attempts` prints it. Credits are decimals as text. */
export interface AttemptFacts {
  readonly attempt_id: string;
  readonly run_id: string;
  readonly batch: number;
  readonly status: AttemptStatus;
  readonly reason: string | null;
  readonly people: number;
  readonly rows: readonly number[];
  readonly request_id: string | null;
  readonly http_status: number | null;
  readonly credits_reserved: string;
  readonly credits_settled: string | null;
  readonly credits_stated: string | null;
  readonly admitted_at: Date;
  /** Deadline of the late results; null if no late results are awaited. */
  readonly awaited_until: Date | null;
}

/** Lists the newest attempts in the order of admission. `overdue`: late results are missing after the deadline. */
export async function listAttempts(
  warehouse: Warehouse,
  filter: {
    runId?: string | undefined;
    status?: 'unknown' | 'overdue' | undefined;
    attemptId?: string;
    limit?: number | undefined;
  },
): Promise<AttemptFacts[]> {
  const result = await sql<AttemptFacts>`
    select a.attempt_id, a.run_id, a.batch, a.status, a.reason, a.people, a.request_id, a.http_status,
      trim_scale(a.credits_reserved)::text as credits_reserved,
      trim_scale(a.credits_settled)::text as credits_settled,
      trim_scale(greatest(a.credits_answered, a.credits_stated))::text as credits_stated,
      a.admitted_at,
      case when a.status = 'awaiting' then a.awaited_until end as awaited_until,
      (
        select array_agg(p.row_number order by p.row_number) from attempt_people p where p.attempt_id = a.attempt_id
      ) as rows
    from attempts a
    where (${filter.runId ?? null}::text is null or a.run_id = ${filter.runId ?? null})
      and case ${filter.status ?? null}::text
        when 'unknown' then a.status = 'unknown'
        when 'overdue' then a.status = 'awaiting' and a.awaited_until <= clock_timestamp()
        else true
      end
      and ${filter.attemptId === undefined ? sql`true` : idStartsWith(sql`a.attempt_id`, filter.attemptId)}
    order by a.admitted_at desc
    limit ${filter.limit ?? null}
  `.execute(warehouse.database);
  return result.rows.reverse();
}

/** Reads one attempt by its id or its first characters. @throws Problem `attempt.unknown`, `attempt.ambiguous` */
export async function getAttempt(warehouse: Warehouse, idOrPrefix: string): Promise<AttemptFacts> {
  const found = await listAttempts(warehouse, { attemptId: idOrPrefix, limit: 2 });
  return requireSingleMatch(
    found,
    'attempt',
    idOrPrefix,
    'enrich attempts list --status all shows the attempts',
  );
}

/** The operator's decision: credits that the service billed for the attempt, as a decimal; `0` if nothing. */
interface Decision extends Partial<DecisionNote> {
  readonly attemptId: string;
  readonly credits: string;
}

/**
 * Settles attempts of unknown cost as the operator decides, all or none, and releases the rest of their reservations. A
 * higher cost in an answer or delivery replaces the decision. Later runs may call for these people.
 *
 * @throws Problem `attempt.closed` if there is nothing to decide or correct; `attempt.more-than-held`
 */
export async function decideAttempts(warehouse: Warehouse, decisions: readonly Decision[]): Promise<void> {
  const ordered = decisions.toSorted((one, other) => (one.attemptId < other.attemptId ? -1 : 1));
  await warehouse.database.transaction().execute(async (transaction) => {
    const settlements = [];
    for (const decision of ordered) settlements.push(await decideAttempt(transaction, decision));
    // Budgets are locked after all attempts and claims, because the storing of answers locks in the same order.
    for (const { budgetIds, reserved, credits } of settlements)
      await settleReservation(transaction, budgetIds, reserved, credits);
  });
}

/** Closes an attempt by a decision of the operator. @returns the credits to settle in the budgets of the attempt */
async function decideAttempt(
  transaction: Transaction<Tables>,
  { attemptId, credits, by = 'the operator', reason }: Decision,
) {
  const decision = `${by}: ${credits} ${nounFor(credits, 'credit')}${reason ? ` (${reason})` : ''}`;
  const found = await sql<{ budget_ids: string[]; reserved: string; settled: string | null }>`
    select budget_ids, credits_reserved::text as reserved, credits_settled::text as settled
    from attempts a
    where attempt_id = ${attemptId}
      and (
        status in ('unknown', 'awaiting')
        or (status = 'settled' and answered_at is null and not exists (
          select from webhook_deliveries d where d.attempt_id = a.attempt_id and d.status = 'applied'))
      )
    for update
  `.execute(transaction);
  const attempt = found.rows[0];
  if (!attempt)
    throw new UsageProblem(
      'attempt.closed',
      `attempt ${attemptId} waits for no decision, and has none to correct`,
      { where: 'enrich attempts', next: 'enrich attempts list shows the attempts that wait for a decision' },
    );
  const held = parseStoredCredits(attempt.reserved);
  if (parseStoredCredits(credits) > held)
    throw new UsageProblem(
      'attempt.more-than-held',
      `${credits} credits are more than the ${formatCredits(held)} that are held for attempt ${attemptId}`,
      {
        where: '--credits',
        next: `write at most ${formatCredits(held)}; enrich usage --reconcile shows a higher bill as unexplained`,
      },
    );
  const { rows } = await sql<{ settled: string }>`
    update attempts
    set status = 'settled',
      credits_settled = greatest(${credits}::numeric, credits_answered, credits_stated),
      closed_at = clock_timestamp(),
      decided_at = clock_timestamp(),
      next_poll_at = null,
      reason = coalesce(reason || '; ', '') ||
        case status when 'settled' then 'corrected' else 'decided' end || ' by ' || ${decision}
    where attempt_id = ${attemptId}
    returning credits_settled::text as settled
  `.execute(transaction);
  await releaseClaims(transaction, attemptId);
  return {
    budgetIds: attempt.budget_ids,
    reserved: attempt.settled === null ? attempt.reserved : '0',
    credits: parseStoredCredits(rows[0]!.settled) - parseStoredCredits(attempt.settled ?? '0'),
  };
}

/**
 * Reopens rows of unknown calls, if the run has `--on-unknown retry`; the attempt keeps its reservation and claims.
 * Rows stay unknown if they were called twice, decided by the operator, or erased. @returns the reopened rows
 */
export async function reopenUnknownRows(
  warehouse: Warehouse,
  { runId, options }: { readonly runId: string; readonly options: Pick<RunOptions, 'onUnknown'> },
  rows: RawBuilder<unknown>,
): Promise<number[]> {
  if (options.onUnknown !== 'retry') return [];
  const reopened = await sql<{ row_number: number }>`
    update run_rows r set outcome = null, reason = case when r.filled then ${filledWithoutCallNote}::text end
    where r.run_id = ${runId} and r.row_number in (${rows}) and r.outcome = 'unknown'
      and r.keys <> '{}'
      and (
        select count(*) = 1 and bool_and(a.status = 'unknown')
        from attempt_people p
        join attempts a using (attempt_id)
        where p.run_id = r.run_id
          and p.row_number = r.row_number
          and a.status not in (${nameList(statusesWithoutCost)})
      )
    returning r.row_number
  `.execute(warehouse.database);
  return reopened.rows.map((row) => row.row_number);
}
