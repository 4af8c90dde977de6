import { anyOf } from '../db/one-of.ts';
import { creditedStatuses, type DeliveryStatus } from '../domain/late-results/delivery-status.ts';
import { sql, type Transaction } from 'kysely';
import {
  deliveryKinds,
  lateKinds,
  lateKindsOf,
  type LateKind,
} from '../domain/late-results/delivery-kinds.ts';
import { countUncovered, haveWholePrice, type CallPeople } from '../domain/late-results/delivered-part.ts';
import { lateBill } from '../domain/late-results/late-bill.ts';
import { storedCredits } from '../domain/money/decimal.ts';
import type { Tables } from '../db/schema.ts';
import { settleLateCredits } from '../ledger/late-credits.ts';
import { isHiddenId } from '../suppression/hidden-ids.ts';
import type { ArrivedKinds } from '../people/known/lookup-history.ts';
import type { LockedAttempt } from './awaiting-call.ts';

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
export interface AppliedPart {
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
 * The results that have arrived for all people of a call whose answer was lost. Undefined: the call has an answer, or
 * its run is undone, so that no contact gets the results.
 */
export async function arrivedOfLost(
  transaction: Transaction<Tables>,
  call: LockedAttempt,
): Promise<ArrivedKinds | undefined> {
  if (call.hasAnswer || call.runUndone) return undefined;
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
