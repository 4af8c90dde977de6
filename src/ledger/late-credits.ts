import { sql, type Transaction } from 'kysely';
import { formatCredits, parseCredits, type Credits } from '../domain/money/decimal.ts';
import type { PauseReason } from '../contract.ts';
import { settle } from './close-attempt.ts';
import type { Tables } from '../db/schema.ts';

interface AttemptMoney {
  readonly runId: string;
  readonly status: string;
  readonly budgetIds: readonly string[];
  readonly reserved: string;
  readonly settled: string | null;
  readonly answered: string | null;
  readonly hasAnswer: boolean;
  readonly complete: boolean;
  /** A waterfall's delivery took effect: it has the price of the whole request. */
  readonly waterfall: boolean;
  /** Sum over subjects of the dearest body of each; of bodies about some of the people of another only that other one. */
  readonly delivered: string;
  /** False where a body does not say what it cost, or where nothing came but what cannot be understood. */
  readonly deliveredKnown: boolean;
}

/**
 * Brings the books of an attempt up to its deliveries: settles it once nothing is awaited any more; raises what was settled
 * where more was billed afterwards; leaves it unknown where a part of the price was never said.
 *
 * Two bodies about the same people are the same bill told twice: the dearer one counts, so that a delivery that is repeated
 * in other words is not paid for twice. A body about more people takes the place of those about some of them: services
 * deliver in parts and then as a whole, and polls return the whole.
 *
 * A waterfall's answer may leave `credits_consumed` out; its delivery then has the price of the whole request.
 *
 * @param transaction holds the attempt's row
 */
export async function settleLateCredits(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  const found = await sql<AttemptMoney>`
    select a.run_id as "runId", a.status, a.budget_ids as "budgetIds", a.credits_reserved::text as reserved,
      a.credits_settled::text as settled, a.credits_answered::text as answered, a.answered_at is not null as "hasAnswer",
      cardinality(a.awaits) = 0 as complete, coalesce(d.waterfall, false) as waterfall,
      coalesce(d.credits, 0)::text as delivered, coalesce(d.known, not exists (
        select 1 from webhook_deliveries q where q.attempt_id = a.attempt_id and q.status = 'quarantined')) as "deliveredKnown"
    from attempts a join runs r using (run_id) left join lateral (
      select sum(credits) as credits, bool_and(credits is not null) as known, bool_or(subject like 'waterfall:%') as waterfall from (
        select subject, max(credits) as credits from webhook_deliveries part
        where attempt_id = a.attempt_id and subject is not null and status in ('applied', 'orphaned')
          and not exists (
            select 1 from webhook_deliveries whole where whole.attempt_id = a.attempt_id and whole.status in ('applied', 'orphaned')
              and split_part(whole.subject, ':', 1) = split_part(part.subject, ':', 1) and whole.subject <> part.subject
              and part.person_ids <> '{}' and part.person_ids <@ whole.person_ids)
        group by subject) each
    ) d on true
    where a.attempt_id = ${attemptId}
  `.execute(transaction);
  const money = found.rows[0]!;
  const answered = money.answered === null ? undefined : parseCredits(money.answered);
  const delivered = parseCredits(money.delivered) ?? 0n;
  const reserved = parseCredits(money.reserved) ?? 0n;
  const atLeast = (answered ?? 0n) + delivered;

  if (money.settled !== null) {
    const settled = parseCredits(money.settled) ?? 0n;
    if (atLeast > settled) await raise(transaction, attemptId, money, settled, atLeast);
  } else if (money.hasAnswer && money.complete) {
    const known = money.deliveredKnown && (answered !== undefined || money.waterfall);
    if (known) await settleWhole(transaction, attemptId, money, atLeast);
    else await leaveUnknown(transaction, attemptId);
  }
  if (atLeast > reserved) await stopOverbilled(transaction, attemptId, money.runId);
}

async function settleWhole(
  transaction: Transaction<Tables>,
  attemptId: string,
  money: AttemptMoney,
  total: Credits,
): Promise<void> {
  await sql`
    update attempts set status = 'settled', credits_settled = ${formatCredits(total)}::numeric, closed_at = clock_timestamp(),
      next_poll_at = null
    where attempt_id = ${attemptId}
  `.execute(transaction);
  await settle(transaction, money.budgetIds, money.reserved, total);
}

/** Billed after the books were closed: a delivery that nobody awaited any more, or that the operator did not expect. */
async function raise(
  transaction: Transaction<Tables>,
  attemptId: string,
  money: AttemptMoney,
  settled: Credits,
  total: Credits,
): Promise<void> {
  await sql`
    update attempts set credits_settled = ${formatCredits(total)}::numeric where attempt_id = ${attemptId}
  `.execute(transaction);
  await settle(transaction, money.budgetIds, '0', total - settled);
}

async function leaveUnknown(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  await sql`
    update attempts set status = 'unknown', next_poll_at = null,
      reason = coalesce(reason || '; ', '') || 'what it cost was never said'
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(transaction);
}

/** The service bills more than its prices allow: shown on the attempt, and no further call until a person has looked. */
async function stopOverbilled(
  transaction: Transaction<Tables>,
  attemptId: string,
  runId: string,
): Promise<void> {
  const pauseReason: PauseReason = {
    type: 'service.overbilled',
    reason: `the service billed more for attempt ${attemptId} than was reserved for it`,
    next: `compare the attempt (enrich attempts show ${attemptId}) with the invoice of the service; then: enrich resume ${runId}`,
  };
  const marked = await sql`
    update attempts set reason = 'billed more than reserved' where attempt_id = ${attemptId}
      and reason is distinct from 'billed more than reserved'
  `.execute(transaction);
  // Told once: resuming is the person's word that this attempt was looked at.
  if (!marked.numAffectedRows) return;
  await sql`
    update runs set status = 'paused', pause_reason = ${JSON.stringify(pauseReason)}::jsonb
    where run_id = ${runId} and (status = 'running' or (status = 'paused' and pause_reason ->> 'type' = 'budget.empty'))
  `.execute(transaction);
}

/**
 * The service's word that nothing (more) will come for a request: what was delivered until then is all.
 *
 * @returns false where nothing was awaited
 */
export async function endAwaiting(
  transaction: Transaction<Tables>,
  attemptId: string,
  reason: string,
): Promise<boolean> {
  const ended = await sql`
    update attempts set awaits = '{}', next_poll_at = null, reason = coalesce(reason, ${reason})
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(transaction);
  if (!ended.numAffectedRows) return false;
  await settleLateCredits(transaction, attemptId);
  return true;
}
