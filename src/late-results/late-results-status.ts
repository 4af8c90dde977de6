import { sql, type Transaction, type RawBuilder } from 'kysely';
import { anyOf } from '../db/expressions.ts';
import {
  creditedStatuses,
  deliveryKinds,
  lateKinds,
  lateKindsOf,
  type DeliveryStatus,
  type LateKind,
} from '../domain/late-results/delivery-kinds.ts';
import { countUncovered, haveWholePrice, type CallPeople } from '../domain/late-results/delivered-part.ts';
import { lateBill } from '../domain/late-results/late-bill.ts';
import { storedCredits } from '../domain/money/decimal.ts';
import type { Tables } from '../db/schema.ts';
import { settleLateCredits } from '../ledger/late-credits.ts';
import { isHiddenId } from '../suppression/suppression-list.ts';
import type { ArrivedKinds } from '../people/lookup-history.ts';
import type { LockedAttempt } from './awaiting-call.ts';
import type { LateResultsStatus } from '../contract/late-results-status.ts';
import type { Warehouse } from '../db/database.ts';

/** The people found by a call, from its answer. Without an answer, everyone who was asked for may be found. */
export function peopleOfCall(
  call: Pick<LockedAttempt, 'foundIds' | 'foundPeople' | 'hasAnswer' | 'idsOfRows' | 'people'>,
): CallPeople {
  const found = call.hasAnswer ? call.foundPeople : call.people;
  return {
    ids: call.foundIds,
    hidden: call.foundIds.filter(isHiddenId).length,
    unlisted: Math.max(0, found - call.foundIds.length),
    surplus: Math.max(0, new Set(call.foundIds).size - found),
    idsOfRows: call.idsOfRows,
  };
}

/** The content of a body that took effect. */
interface AppliedPart {
  readonly hash: string;
  readonly covers: readonly string[];
  readonly brings: readonly string[];
  readonly credits: string | null;
}

/** The bodies of a call that took effect. */
export async function readAppliedParts(
  transaction: Transaction<Tables>,
  attemptId: string,
): Promise<AppliedPart[]> {
  const parts = await sql<AppliedPart>`
    select encode(body_sha256, 'hex') as hash, covers, brings, credits::text as credits
    from webhook_deliveries where attempt_id = ${attemptId} and status in (${anyOf(creditedStatuses)})
  `.execute(transaction);
  return parts.rows;
}

/**
 * Settles a call by its bodies. A kind of results is complete when the bodies cover everyone who was found.
 *
 * @param call.ended kinds of which no further results arrive
 */
export async function settleByParts(
  transaction: Transaction<Tables>,
  call: LockedAttempt,
  ended: readonly LateKind[] = [],
): Promise<void> {
  const parts = await readAppliedParts(transaction, call.attemptId);
  const covers = parts.flatMap((part) => part.covers);
  const people = peopleOfCall(call);
  const priced = parts.map(({ credits, ...part }) => ({
    ...part,
    credits: credits === null ? undefined : storedCredits(credits),
  }));
  const bill = lateBill(priced);
  // Without a body that took effect, the cost is uncertain in two cases: the search costs something without results, or
  // an unreadable body may have all results.
  const isCertain =
    parts.length > 0 ||
    !(
      ended.some((kind) => deliveryKinds[lateKinds[kind].deliveredBy].costsWithoutResults) ||
      (await hasDelivery(transaction, call.attemptId, 'quarantined'))
    );
  await settleLateCredits(transaction, call.attemptId, {
    arrived: call.awaits.filter((kind) => ended.includes(kind) || countUncovered(kind, people, covers) === 0),
    bill: { ...bill, certain: bill.certain && isCertain },
    highest: priced.reduce((most, { credits = 0n }) => (credits > most ? credits : most), 0n),
    hasWholePrice: haveWholePrice(covers),
  });
}

/**
 * The results that have arrived for all people of a call whose answer was lost. Undefined: the call has an answer.
 */
export async function arrivedOfLost(
  transaction: Transaction<Tables>,
  call: LockedAttempt,
): Promise<ArrivedKinds | undefined> {
  if (call.hasAnswer) return undefined;
  const parts = await readAppliedParts(transaction, call.attemptId);
  const covers = parts.flatMap((part) => part.covers);
  const brings = parts.flatMap((part) => part.brings);
  const people = peopleOfCall(call);
  const kinds = lateKindsOf(call.options).filter((kind) => countUncovered(kind, people, covers) === 0);
  return {
    attemptId: call.attemptId,
    kinds: kinds.map((lateKind) => ({ lateKind, found: countUncovered(lateKind, people, brings) === 0 })),
  };
}

export async function hasDelivery(
  transaction: Transaction<Tables>,
  attemptId: string,
  status: DeliveryStatus,
): Promise<boolean> {
  const delivery = await transaction
    .selectFrom('webhook_deliveries')
    .select('delivery_id')
    .where('attempt_id', '=', attemptId)
    .where('status', '=', status)
    .limit(1)
    .executeTakeFirst();
  return delivery !== undefined;
}

/**
 * Reads the status of a run's late results.
 *
 * @param pollWaitMilliseconds time until the window has a slot for a poll: an earlier sync could make no due poll
 */
export async function readLateResultsStatus(
  warehouse: Warehouse,
  runId: string,
  pollWaitMilliseconds = 0,
): Promise<LateResultsStatus> {
  const attempts = await sql<{
    awaited: number;
    expired: number;
    until: Date | null;
    now: Date;
    poll: Date | null;
    next: Date | null;
  }>`
    select count(*) filter (where awaits_still)::int as awaited,
      count(*) filter (where status = 'unknown' or (status = 'awaiting' and not awaits_still))::int as expired,
      max(awaited_until) filter (where awaits_still) as until,
      now,
      min(next_poll_at) filter (where status = 'awaiting') as poll,
      -- Without a poll to come, \`greatest\` would leave the present time.
      least(
        min(greatest(next_poll_at, now + make_interval(secs => ${pollWaitMilliseconds / 1_000})))
          filter (where awaits_still and next_poll_at is not null),
        min(awaited_until) filter (where awaits_still)
      ) as next
    from (select clock_timestamp() as now) clock
    left join lateral (
      select status, awaited_until, next_poll_at, status = 'awaiting' and awaited_until > now as awaits_still
      from attempts where run_id = ${runId} and (awaits <> '{}' or status = 'awaiting')
    ) a on true
    group by now
  `.execute(warehouse.database);
  const deliveries = await sql<
    Pick<
      LateResultsStatus,
      'arrived' | 'polled' | 'late' | 'orphaned' | 'duplicate' | 'quarantined' | 'waiting'
    >
  >`
    select count(*) filter (where status = 'applied')::int as arrived,
      count(*) filter (where status = 'applied' and origin = 'poll')::int as polled,
      count(*) filter (where status = 'applied' and late)::int as late,
      count(*) filter (where status = 'orphaned')::int as orphaned,
      count(*) filter (where status = 'duplicate')::int as duplicate,
      count(*) filter (where status = 'quarantined')::int as quarantined,
      count(*) filter (where status = 'received')::int as waiting
    from webhook_deliveries where run_id = ${runId}
  `.execute(warehouse.database);
  const { awaited, expired, until, now, poll, next } = attempts.rows[0]!;
  return {
    awaited,
    expired,
    ...deliveries.rows[0]!,
    until: until?.toISOString() ?? null,
    readAt: now.toISOString(),
    nextPollAt: poll?.toISOString() ?? null,
    nextSyncAt: next?.toISOString() ?? null,
  };
}

/**
 * Whose late results are synced: those of one run, or those of runs that have ended or lost their workflow.
 */
export type LateScope = { readonly runId: string } | 'unattended';

/** A run with a workflow makes a due poll within this time, unless a rate window is full. */
const attendedSeconds = 15 * 60;

/**
 * SQL condition: whether work of a run, due at a time, is in a scope. A terminated workflow leaves no mark, so a run
 * counts as unattended if its work is long overdue. Taking work from a run that is only slow does no harm, because each
 * effect happens once.
 *
 * @param runId, due expressions of SQL
 */
export function isInScope(
  scope: LateScope,
  runId: RawBuilder<unknown>,
  due: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (scope !== 'unattended') return sql`${runId} = ${scope.runId}`;
  return sql`(${due} < clock_timestamp() - make_interval(secs => ${attendedSeconds})
    or exists (select 1 from runs r where r.run_id = ${runId} and r.finished_at is not null))`;
}
