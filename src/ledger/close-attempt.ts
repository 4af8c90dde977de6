import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { AttemptStatus } from '../domain/money/attempt-status.ts';
import { formatCredits, parseStoredCredits, type Credits } from '../domain/money/decimal.ts';
import { type LateKind, deliveryKinds, lateKinds } from '../domain/late-results/delivery-kinds.ts';
import { withEarlierNote } from '../db/run-states.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { totalLateBill, type DeliveredResults } from '../domain/late-results/expected-results.ts';
import { pauseCalls } from './admit.ts';

export interface ClosedAttempt {
  readonly attemptId: string;
  readonly runId: string;
  /** Reserved credits as decimal text. */
  readonly reserved: string;
}

/** The late results that an answer announces, and how long to wait for them. */
export interface AwaitedResults {
  /** Kinds of late results that are awaited; at least one. */
  readonly kinds: readonly LateKind[];
  readonly pollAfterSeconds: number;
  readonly deadlineSeconds: number;
  /** Worst case of the whole call. Undefined if only the vendor knows the price: then the whole reservation stays. */
  readonly worstCase: Credits | undefined;
}

/** The parts of an answer that close an attempt. */
export interface ClosingAnswer {
  readonly httpStatus: number;
  readonly requestId: string | undefined;
  readonly creditsConsumed: Credits | undefined;
  /** Why the answer states no price; null if it states one. */
  readonly reason: string | null;
  readonly foundIds: readonly string[];
  /** Number of people found; can exceed `foundIds`, because an answer can list fewer people than it bills. */
  readonly foundPeople: number;
  readonly awaited: AwaitedResults | undefined;
  /** True if an earlier call already requested the phones, so that the service skips the search. */
  readonly phonesWithEarlier: boolean;
}

/**
 * SQL assignments for the credits that an answer states. They apply even after the operator has settled the call. The
 * price of earlier deliveries is added, unless the answer most likely includes it.
 */
function statedBy(answer: ClosingAnswer): RawBuilder<unknown> {
  const answered = sql`coalesce(${decimalOf(answer.creditsConsumed)}::numeric, 0)`;
  return sql`
    request_id = ${answer.requestId ?? null},
    http_status = ${answer.httpStatus},
    found_ids = ${answer.foundIds}::text[],
    found_people = ${answer.foundPeople},
    phones_with_earlier = ${answer.phonesWithEarlier},
    credits_answered = ${decimalOf(answer.creditsConsumed)}::numeric,
    credits_stated = case
      when credits_stated is null then null
      when credits_stated + ${answered} <= credits_reserved then credits_stated + ${answered}
      else greatest(credits_stated, ${answered})
    end,
    answered_at = clock_timestamp()`;
}

/** Credits as decimal text for SQL; null: unknown. */
function decimalOf(credits: Credits | undefined): string | null {
  return credits === undefined ? null : formatCredits(credits);
}

/**
 * Closes an attempt with its answer. The new status is `awaiting` while late results are due (their cost stays
 * reserved), `settled` if the answer states the cost, and otherwise `unknown` (the whole reservation stays).
 *
 * @param storing more `with` queries, to save round trips; table `closed` has the `attemptId`, or no row
 * @param from the statuses that allow closing
 * @returns undefined if the attempt has another status, or an answer was recorded before
 */
export async function closeAttempt(
  database: Kysely<Tables>,
  attemptId: string,
  answer: ClosingAnswer,
  storing: RawBuilder<unknown>,
  from: readonly AttemptStatus[],
): Promise<ClosedAttempt | undefined> {
  const { awaited } = answer;
  const settled = awaited ? null : decimalOf(answer.creditsConsumed);
  const { rows } = await sql<ClosedAttempt>`
    with open as (
      select attempt_id, credits_reserved as held from attempts
      where attempt_id = ${attemptId} and status = any(${from}::text[]) and answered_at is null
      for update
    ), closed as (
      update attempts a set
        status = case
          when ${awaited !== undefined} then 'awaiting'
          when ${settled}::numeric is null then 'unknown'
          else 'settled'
        end,
        credits_settled = ${settled}::numeric,
        credits_reserved = least(credits_reserved, ${decimalOf(awaited?.worstCase)}::numeric),
        reason = ${answer.reason},
        ${statedBy(answer)},
        awaited_until = clock_timestamp() + make_interval(secs => ${awaited?.deadlineSeconds ?? null}::float8),
        next_poll_at = case when ${answer.requestId !== undefined} then clock_timestamp() + make_interval(
          -- The last poll is made at the deadline, so the first poll is never later.
          secs => least(${awaited?.pollAfterSeconds ?? null}::float8, ${awaited?.deadlineSeconds ?? null}::float8)) end,
        closed_at = case when ${settled}::numeric is null then null else clock_timestamp() end
      from open
      where a.attempt_id = open.attempt_id
      returning a.attempt_id as "attemptId", run_id as "runId", budget_ids as "budgetIds", held::text as reserved,
        case when ${settled}::numeric is null then held - credits_reserved else held end as released
    ), ${storing}
    select "attemptId", "runId", reserved
    from closed
    cross join settle_credits("budgetIds", released, coalesce(${settled}::numeric, 0))
  `.execute(database);
  return rows[0];
}

/**
 * Records an answer that arrives after the operator has decided about the attempt. If the answer and the deliveries
 * state a higher cost than the operator, the difference is settled.
 */
export async function recordAnswerAfterDecision(
  transaction: Transaction<Tables>,
  attemptId: string,
  answer: ClosingAnswer,
  storing: RawBuilder<unknown>,
): Promise<ClosedAttempt | undefined> {
  const { rows } = await sql<ClosedAttempt>`
    with closed as (
      update attempts a set ${statedBy(answer)},
        reason = coalesce(reason || '; ', '') || 'answered after it was decided'
      where attempt_id = ${attemptId} and status = 'settled' and answered_at is null
      returning attempt_id as "attemptId", run_id as "runId", credits_reserved::text as reserved
    ), ${storing}
    select * from closed
  `.execute(transaction);
  if (rows[0]) await settleLateCredits(transaction, attemptId);
  return rows[0];
}

/** Turns reserved into spent credits. It locks budgets that all calls share, so only a pause of the run may follow. */
export async function settleReservation(
  transaction: Transaction<Tables>,
  budgetIds: readonly string[],
  reserved: string,
  consumed: Credits,
): Promise<void> {
  await sql`
    select settle_credits(${budgetIds}::text[], ${reserved}::numeric, ${formatCredits(consumed)}::numeric)
  `.execute(transaction);
}

/**
 * Closes a call that costs nothing, so that its people can be called for again. If a delivery has stated a price, the
 * call stays unknown, because the service has processed it. Rows that were unknown stay unknown until a later run.
 * `refused`: by the service (401, 403, 422, 429); `released`: certainly never sent.
 */
export async function closeWithoutCost(
  warehouse: Warehouse,
  attemptId: string,
  end: {
    readonly status: 'refused' | 'released';
    readonly reason: string;
    readonly httpStatus?: number | undefined;
  },
): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    const closed = await sql<{ budget_ids: string[]; reserved: string }>`
      update attempts
      set status = ${end.status}, credits_settled = 0, reason = ${end.reason}, http_status = ${end.httpStatus ?? null},
        closed_at = clock_timestamp()
      where attempt_id = ${attemptId} and status in ('admitted', 'unknown') and coalesce(credits_stated, 0) = 0
      returning budget_ids, credits_reserved::text as reserved
    `.execute(transaction);
    const attempt = closed.rows[0];
    if (!attempt) return;
    await releaseClaims(transaction, attemptId);
    await settleReservation(transaction, attempt.budget_ids, attempt.reserved, 0n);
  });
}

/**
 * Marks a call without an answer as unknown, because it may have been billed. Its reservation and claims stay until an
 * answer, a late result or the operator states the cost. No run pays for these people again automatically.
 */
export async function markAttemptUnknown(
  warehouse: Warehouse,
  attemptId: string,
  reason: string,
  httpStatus?: number,
): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    const marked = await sql`
      update attempts set status = 'unknown', reason = ${reason}, http_status = ${httpStatus ?? null}
      where attempt_id = ${attemptId} and status = 'admitted'
    `.execute(transaction);
    if (!marked.numAffectedRows) return;
    await sql`
      update run_rows r
      set outcome = 'unknown', reason = ${withEarlierNote(sql`${`attempt ${attemptId}: ${reason}`}::text`)}
      from attempt_people p
      where p.attempt_id = ${attemptId} and r.run_id = p.run_id and r.row_number = p.row_number and r.outcome is null
    `.execute(transaction);
  });
}

/** Deletes the claims of an ended call, except of people who have further calls in this run or another open call. */
export async function releaseClaims(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  await sql`
    delete from claims c using attempt_people p
    where p.attempt_id = ${attemptId} and c.run_id = p.run_id and c.row_number = p.row_number
      and not exists (select 1 from run_rows r
        where r.run_id = p.run_id and r.row_number = p.row_number and r.outcome is null)
      and not exists (select 1 from attempt_people o join attempts a using (attempt_id)
        where o.run_id = p.run_id and o.row_number = p.row_number and o.attempt_id <> p.attempt_id
          and a.status in ('admitted', 'unknown') and a.answered_at is null)
  `.execute(transaction);
}

/**
 * Money of an attempt. Credits are decimals as text; `settled` is null before the attempt is settled, `answered` if the
 * answer states no price.
 */
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

/** Reason for status `unknown` if all results of a call have arrived but a part of the price is uncertain. */
export const uncertainCostReason = 'the total cost is uncertain';

/** SQL condition: attempt `a` still waits for late results. */
export const hasExpectedResults = sql<boolean>`exists (
  select from expected_results e where e.attempt_id = a.attempt_id and e.status = 'expected')`;

/**
 * Updates the credits of a locked attempt from its deliveries. When no more results are expected, it becomes `settled`,
 * or `unknown` if a part of the price is uncertain. If it was settled before, the difference is settled, and the run
 * pauses if this exceeds the reservation or a budget.
 */
export async function settleLateCredits(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  const applied = await sql<DeliveredResults & { readonly credits: string | null }>`
    select covers, brings, credits::text as credits
    from webhook_deliveries
    where attempt_id = ${attemptId} and status = 'applied'
  `.execute(transaction);
  const deliveries = applied.rows.map(({ credits, ...results }) => ({
    ...results,
    credits: credits === null ? undefined : parseStoredCredits(credits),
  }));
  const bill = totalLateBill(deliveries);
  const highest = deliveries.reduce((most, { credits = 0n }) => (credits > most ? credits : most), 0n);
  // The answer to a waterfall call has no price. Its deliveries state the price of the whole request.
  const hasWholePrice = deliveries.some(({ covers }) =>
    covers.some((entry) => {
      const kind = entry.slice(0, entry.indexOf('/')) as LateKind;
      return deliveryKinds[lateKinds[kind].deliveredBy].isPricedByVendors;
    }),
  );
  const { rows } = await sql<AttemptMoney>`
    select attempt_id as "attemptId", run_id as "runId", budget_ids as "budgetIds", credits_reserved::text as reserved,
      credits_settled::text as settled, credits_answered::text as answered, answered_at is not null as "hasAnswer",
      decided_at is not null as "isDecided", not ${hasExpectedResults} as "isComplete"
    from attempts a
    where attempt_id = ${attemptId}
  `.execute(transaction);
  const money = rows[0]!;
  const [answered, reserved] = [
    parseStoredCredits(money.answered ?? '0'),
    parseStoredCredits(money.reserved),
  ];
  const total = answered + bill.credits;
  // If only the sum of the prices exceeds the reservation, the same price was most likely stated twice: by several
  // deliveries, or by the answer and a delivery.
  const isRepeated = total > reserved && (bill.deliveries > 1 || bill.credits <= reserved);
  const single = highest > answered ? highest : answered;
  const stated = isRepeated ? single : total;
  await sql`
    update attempts set credits_stated = ${formatCredits(stated)}::numeric where attempt_id = ${attemptId}
  `.execute(transaction);

  if (money.settled !== null) {
    const raised = money.isDecided ? stated : total;
    if (raised > parseStoredCredits(money.settled)) {
      await settleTotal(transaction, money, raised);
      const exceeded = await sql`
        select from budgets where budget_id = any(${money.budgetIds}::text[]) and settled + reserved > credits_limit
      `.execute(transaction);
      if (exceeded.rows.length > 0)
        await pauseOverbilledRun(transaction, money, 'billed after its reservation ended');
    }
  } else if (money.hasAnswer && money.isComplete) {
    if (bill.certain && !isRepeated && (money.answered !== null || hasWholePrice))
      await settleTotal(transaction, money, total);
    else await leaveCostUnknown(transaction, attemptId, uncertainCostReason);
  }
  if (total > reserved) await pauseOverbilledRun(transaction, money, 'billed more than reserved');
}

/** Settles the total cost of a call. A call that was settled before keeps its status. */
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
  await settleReservation(
    transaction,
    budgetIds,
    settled === null ? reserved : '0',
    total - parseStoredCredits(settled ?? '0'),
  );
}

/** Ends the wait for late results. The credits stay reserved, and later deliveries still count. */
export async function leaveCostUnknown(
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
 * Pauses a run that was billed more than its prices allow. Its lock must be the last of the transaction.
 *
 * @param mark added to the reason that `enrich attempts` shows
 */
export async function pauseOverbilledRun(
  transaction: Transaction<Tables>,
  { attemptId, runId }: { readonly attemptId: string; readonly runId: string },
  mark: string,
): Promise<void> {
  const marked = await sql`
    update attempts set reason = concat_ws('; ', reason, ${mark}::text)
    where attempt_id = ${attemptId} and strpos(coalesce(reason, ''), ${mark}) = 0
  `.execute(transaction);
  // An attempt pauses the run only once: an operator who has resumed the run has seen the reason.
  if (!marked.numAffectedRows) return;
  await pauseCalls(transaction, runId, {
    type: 'service.overbilled',
    reason: `the service billed more for attempt ${attemptId} than was reserved for it`,
    next:
      `compare the attempt (enrich attempts list ${attemptId}) with the invoice of the service; ` +
      `then: enrich resume ${runId}`,
  });
}
