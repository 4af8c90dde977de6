import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import {
  deliveryKindOf,
  deliveryKinds,
  resultsKeptByServiceSeconds,
  lateKinds,
  lateKindsInDelivery,
} from '../domain/late-results/delivery-kinds.ts';
import type { DeliveredResults } from '../domain/late-results/expected-results.ts';
import { leaveCostUnknown, uncertainCostReason } from '../ledger/close-attempt.ts';
import { readStoredDelivery } from './deliveries.ts';
import {
  markResultsMissing,
  expectedResultEntry,
  isInScope,
  lockCall,
  type LateResultsScope,
} from './expected-results.ts';
import type { Tables } from '../db/schema.ts';

/**
 * Settles a call after its deadline by the last body of a poll, or without polls by each delivery. A kind of results is
 * complete if a body has all its results and counts the missing people, or if the service reports the end of the
 * request. A body about e-mails does not complete phones.
 *
 * @param polled the last body of a poll, and whether the service reports the end; undefined: the call cannot be polled
 */
export async function settleByLastBody(
  warehouse: Warehouse,
  attemptId: string,
  polled?: { readonly body: Buffer; readonly hasEnded: boolean },
): Promise<void> {
  const hash = polled && createHash('sha256').update(polled.body).digest();
  await warehouse.database.transaction().execute(async (transaction) => {
    const call = await lockCall(transaction, attemptId);
    const { rows } = await sql<DeliveredResults & { readonly body: Buffer }>`
      select covers, brings, body
      from webhook_deliveries
      where attempt_id = ${attemptId} and status = 'applied' and body is not null
        and (${hash ?? null}::bytea is null or body_sha256 = ${hash ?? null})
    `.execute(transaction);
    for (const { covers, brings, body } of rows) {
      const content = await readStoredDelivery(body);
      if (!content) continue;
      const kind = deliveryKindOf(content.kind, call.options);
      const ended = lateKindsInDelivery(kind).filter((each) => {
        const results = call.expected.filter((result) => result.kind === each);
        const covered = results.filter((result) => covers.includes(expectedResultEntry(call, result)));
        const isComplete = results.every((result) => covered.includes(result) || !result.isDelivered);
        const isAbout = deliveryKinds[kind].keepsIds || covered.length > 0;
        const empty = covered.filter((result) => !brings.includes(expectedResultEntry(call, result)));
        const open = results.filter(({ status }) => status === 'expected');
        const gaps = open.filter((result) => !covered.includes(result));
        const countsAllMissing =
          content.missing === undefined
            ? polled?.hasEnded === true
            : content.missing >= gaps.length + empty.length;
        return isComplete && isAbout && countsAllMissing;
      });
      await markResultsMissing(transaction, call, ended);
    }
  });
}

/** After the deadline, settles the calls that cannot be polled, by their deliveries. */
export async function settleExpiredCalls(warehouse: Warehouse, scope: LateResultsScope): Promise<void> {
  const { rows } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempts a
    where status = 'awaiting' and next_poll_at is null and awaited_until <= clock_timestamp()
      and ${isInScope(scope, sql`a.run_id`, sql`a.awaited_until`)}
  `.execute(warehouse.database);
  for (const { attemptId } of rows) await settleByLastBody(warehouse, attemptId);
}

/**
 * Handles a poll that reports no results for a request. If a delivery may have results, the service contradicts itself,
 * so the call stays open. Vendors can bill a search that found nothing.
 */
export async function endWithoutResults(
  warehouse: Warehouse,
  attemptId: string,
  reason: string,
): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    const call = await lockCall(transaction, attemptId);
    if (call.status !== 'awaiting') return;
    await stopPolling(transaction, attemptId, reason);
    const { rows } = await sql<{ status: string }>`
      select distinct status from webhook_deliveries where attempt_id = ${attemptId} and status <> 'duplicate'
    `.execute(transaction);
    const kinds = [
      ...new Set(call.expected.flatMap(({ kind, status }) => (status === 'expected' ? [kind] : []))),
    ];
    if (rows.some(({ status }) => status !== 'quarantined')) return;
    const isFree = kinds.every((kind) => !deliveryKinds[lateKinds[kind].deliveredBy].isPricedByVendors);
    if (isFree && rows.length === 0) await markResultsMissing(transaction, call, kinds);
    else await leaveCostUnknown(transaction, attemptId, uncertainCostReason);
  });
}

/**
 * Marks calls unknown if their late results can no longer be fetched: the deadline passed without polls, or the service
 * keeps the results no longer. The operator decides about them, and a later delivery still settles its call.
 */
export async function markExpiredCallsUnknown(warehouse: Warehouse, scope: LateResultsScope): Promise<void> {
  await sql`
    update attempts a
    set status = 'unknown', next_poll_at = null, reason = concat_ws('; ', reason, 'the late results did not come')
    where status = 'awaiting' and awaited_until < clock_timestamp()
      and (next_poll_at is null
        or answered_at < clock_timestamp() - make_interval(secs => ${resultsKeptByServiceSeconds}))
      and ${isInScope(scope, sql`a.run_id`, sql`a.awaited_until`)}
  `.execute(warehouse.database);
}

/** A poll that this process has taken; other processes skip it for `leaseSeconds`. */
export interface DuePoll {
  readonly attemptId: string;
  readonly requestId: string;
  /** Number of polls of the attempt, including this one. */
  readonly polls: number;
  /** True if the run no longer waits for the late results. */
  readonly waitIsOver: boolean;
}

/** Whether a run is for this service. */
export async function isRunOfService(warehouse: Warehouse, runId: string, service: string): Promise<boolean> {
  const { rows } = await sql<{ belongs: boolean }>`
    select options ->> 'service' = ${service} as belongs from runs where run_id = ${runId}
  `.execute(warehouse.database);
  return rows[0]?.belongs === true;
}

/** After this time a poll is due again, if the process that took it was killed. */
const leaseSeconds = 120;

/** Takes due polls of a service, the earliest first. Other processes skip them, and other services lack their ids. */
export async function takeDuePolls(
  warehouse: Warehouse,
  service: string,
  scope: LateResultsScope,
  limit: number,
): Promise<DuePoll[]> {
  const due = await sql<DuePoll>`
    update attempts set polls = polls + 1, next_poll_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where attempt_id in (
      select a.attempt_id from attempts a join runs r on r.run_id = a.run_id and r.options ->> 'service' = ${service}
      where a.status = 'awaiting' and a.request_id is not null and a.next_poll_at <= clock_timestamp()
        and ${isInScope(scope, sql`a.run_id`, sql`a.next_poll_at`)}
      order by a.next_poll_at limit ${limit} for update of a skip locked)
    returning attempt_id as "attemptId", request_id as "requestId", polls,
      awaited_until <= clock_timestamp() as "waitIsOver"
  `.execute(warehouse.database);
  return due.rows;
}

/** Schedules the next poll. The last poll is made at the deadline, because results may have arrived until then. */
export async function postponePoll(warehouse: Warehouse, attemptId: string, seconds: number): Promise<void> {
  await sql`
    update attempts set next_poll_at = least(clock_timestamp() + make_interval(secs => ${seconds}),
      case when awaited_until > clock_timestamp() then awaited_until end)
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(warehouse.database);
}

/** Returns a poll that was taken but not made. It becomes due again, and the pause between polls does not grow. */
export async function returnPoll(warehouse: Warehouse, attemptId: string): Promise<void> {
  await sql`
    update attempts set polls = greatest(0, polls - 1) where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(warehouse.database);
  await postponePoll(warehouse, attemptId, 0);
}

/** Stops the polls of a request. Deliveries of this request may still arrive. */
export async function stopPolling(
  database: Kysely<Tables>,
  attemptId: string,
  reason: string,
): Promise<void> {
  await sql`
    update attempts
    set next_poll_at = null,
      reason = coalesce(reason, ${reason})
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(database);
}
