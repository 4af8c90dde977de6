import { sql, type Transaction } from 'kysely';
import { formatCredits, storedCredits, type Credits } from '../domain/money/decimal.ts';
import { lateBill, type DeliveredResults } from '../domain/late-results/expected-results.ts';
import { deliveryKinds, lateKinds, type LateKind } from '../domain/late-results/delivery-kinds.ts';
import { settle } from './close-attempt.ts';
import { pauseCalls } from './admit.ts';
import type { Tables } from '../db/schema.ts';

interface AttemptMoney {
  readonly attemptId: string;
  readonly runId: string;
  readonly budgetIds: readonly string[];
  readonly reserved: string;
  readonly settled: string | null;
  readonly answered: string | null;
  readonly hasAnswer: boolean;
  readonly isDecided: boolean;
  readonly isComplete: boolean;
}

/** Why a call whose results have all arrived is `unknown`. */
export const uncertainCost = 'the total cost is uncertain';

export const hasGaps = sql<boolean>`exists (
  select from expected_results e where e.attempt_id = a.attempt_id and e.status = 'expected')`;

/**
 * Updates the credits of an attempt from its deliveries.
 *
 * - Nothing is expected any more: the attempt is settled. If a part of the price is uncertain, it becomes `unknown`.
 * - The attempt was settled before, and more is billed: the difference is settled as well. Its reservation has ended,
 *   so other calls may have used these credits: if the difference exceeds a budget, the run pauses. The
 *   price that an operator decided includes prices that are repeated.
 * - More is billed than was reserved: the run pauses.
 *
 * @param transaction holds the attempt's row
 */
export async function settleLateCredits(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  const applied = await sql<DeliveredResults & { readonly credits: string | null }>`
    select covers, brings, credits::text as credits
    from webhook_deliveries
    where attempt_id = ${attemptId} and status = 'applied'
  `.execute(transaction);
  const deliveries = applied.rows.map(({ credits, ...results }) => ({
    ...results,
    credits: credits === null ? undefined : storedCredits(credits),
  }));
  const bill = lateBill(deliveries);
  const highest = deliveries.reduce((most, { credits = 0n }) => (credits > most ? credits : most), 0n);
  // The answer of a waterfall leaves out its price: the deliveries state the price of the whole request.
  const hasWholePrice = deliveries.some(({ covers }) =>
    covers.some((entry) => {
      const kind = entry.slice(0, entry.indexOf('/')) as LateKind;
      return deliveryKinds[lateKinds[kind].deliveredBy].isPricedByVendors;
    }),
  );
  const { rows } = await sql<AttemptMoney>`
    select attempt_id as "attemptId", run_id as "runId", budget_ids as "budgetIds", credits_reserved::text as reserved,
      credits_settled::text as settled, credits_answered::text as answered, answered_at is not null as "hasAnswer",
      decided_at is not null as "isDecided", not ${hasGaps} as "isComplete"
    from attempts a
    where attempt_id = ${attemptId}
  `.execute(transaction);
  const money = rows[0]!;
  const [answered, reserved] = [storedCredits(money.answered ?? '0'), storedCredits(money.reserved)];
  const total = answered + bill.credits;
  // Prices that exceed the reservation only together most likely state the price of the whole more than once: in
  // several deliveries, or in the answer and a delivery.
  const isRepeated = total > reserved && (bill.deliveries > 1 || bill.credits <= reserved);
  const single = highest > answered ? highest : answered;
  const stated = isRepeated ? single : total;
  await transaction
    .updateTable('attempts')
    .set({ credits_stated: formatCredits(stated) })
    .where('attempt_id', '=', attemptId)
    .execute();

  if (money.settled !== null) {
    const raised = money.isDecided ? stated : total;
    if (raised > storedCredits(money.settled)) {
      await settleTotal(transaction, money, raised);
      await pauseIfExceeded(transaction, money);
    }
  } else if (money.hasAnswer && money.isComplete) {
    if (bill.certain && !isRepeated && (money.answered !== null || hasWholePrice))
      await settleTotal(transaction, money, total);
    else await leaveUnknown(transaction, attemptId, uncertainCost);
  }
  if (total > reserved) await pauseOverbilled(transaction, money, 'billed more than reserved');
}

/** Settles what a call has cost. A call that was settled before keeps its status. */
async function settleTotal(
  transaction: Transaction<Tables>,
  { attemptId, budgetIds, reserved, settled }: AttemptMoney,
  total: Credits,
): Promise<void> {
  await sql`
    update attempts
    set status = case when credits_settled is null then 'settled' else status end,
      credits_settled = ${formatCredits(total)}::numeric,
      closed_at = coalesce(closed_at, clock_timestamp()),
      next_poll_at = null
    where attempt_id = ${attemptId}
  `.execute(transaction);
  await settle(
    transaction,
    budgetIds,
    settled === null ? reserved : '0',
    total - storedCredits(settled ?? '0'),
  );
}

/** Pauses the run of a call that was billed after its reservation ended, if a budget of the call is exceeded. */
export async function pauseIfExceeded(
  transaction: Transaction<Tables>,
  attempt: { readonly attemptId: string; readonly runId: string; readonly budgetIds: readonly string[] },
): Promise<void> {
  const exceeded = await transaction
    .selectFrom('budgets')
    .select('budget_id')
    .where('budget_id', 'in', attempt.budgetIds)
    .where(sql<boolean>`settled + reserved > credits_limit`)
    .limit(1)
    .executeTakeFirst();
  if (exceeded) await pauseOverbilled(transaction, attempt, 'billed after its reservation ended');
}

/** Ends the waiting of a call whose price nobody can know. Its credits stay reserved; later results still count. */
export async function leaveUnknown(
  transaction: Transaction<Tables>,
  attemptId: string,
  reason: string,
): Promise<void> {
  await sql`
    update attempts set status = 'unknown', next_poll_at = null,
      reason = concat_ws('; ', reason, ${reason}::text)
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(transaction);
}

/**
 * Pauses a run because the service billed more than its prices allow. No call follows until an operator resumes the
 * run. Comes after every other lock of the transaction.
 *
 * @param mark added to the reason that `enrich attempts` shows
 */
export async function pauseOverbilled(
  transaction: Transaction<Tables>,
  { attemptId, runId }: { readonly attemptId: string; readonly runId: string },
  mark: string,
): Promise<void> {
  const marked = await transaction
    .updateTable('attempts')
    .set({ reason: sql<string>`concat_ws('; ', reason, ${mark}::text)` })
    .where('attempt_id', '=', attemptId)
    .where(sql<boolean>`strpos(coalesce(reason, ''), ${mark}) = 0`)
    .executeTakeFirst();
  // Once for each attempt: the operator who resumed the run has seen it.
  if (marked.numUpdatedRows === 0n) return;
  await pauseCalls(transaction, runId, {
    type: 'service.overbilled',
    reason: `the service billed more for attempt ${attemptId} than was reserved for it`,
    next:
      `compare the attempt (enrich attempts list ${attemptId}) with the invoice of the service; ` +
      `then: enrich resume ${runId}`,
  });
}
