import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import {
  deliveryKindOf,
  deliveryKinds,
  keptByServiceSeconds,
  lateKinds,
} from '../domain/late-results/delivery-kinds.ts';
import { hasGaps, leaveUnknown, uncertainCost } from '../ledger/late-credits.ts';
import { contentOf } from './deliveries.ts';
import { endByStatement, endResults, isInScope, lockCall, type LateScope } from './expected-results.ts';
import { stopPolling } from './late-polls.ts';

interface AppliedBody {
  readonly covers: readonly string[];
  readonly brings: readonly string[];
  readonly body: Buffer;
  readonly contentEncoding: string | null;
}

/**
 * Settles a call after its deadline by what the service said last: the body of a poll, or of each delivery if the call
 * cannot be polled. Before the deadline a body may be a part, and decides nothing about people whom it does not name.
 *
 * @param polled undefined: the call cannot be polled
 */
export async function endByLastBody(
  warehouse: Warehouse,
  attemptId: string,
  polled?: { readonly body: Buffer; readonly hasEnded: boolean },
): Promise<void> {
  const hash = polled && createHash('sha256').update(polled.body).digest();
  await warehouse.database.transaction().execute(async (transaction) => {
    const call = await lockCall(transaction, attemptId);
    const { rows } = await sql<AppliedBody>`
      select covers, brings, body, content_encoding as "contentEncoding"
      from webhook_deliveries
      where attempt_id = ${attemptId} and status = 'applied' and body is not null
        and (${hash ?? null}::bytea is null or body_sha256 = ${hash ?? null})
    `.execute(transaction);
    for (const { covers, brings, ...stored } of rows) {
      const content = await contentOf(stored);
      if (!content) continue;
      const kind = deliveryKindOf(content.kind, call.options);
      const { missing } = content;
      await endByStatement(transaction, call, {
        kind,
        covers,
        brings,
        missing,
        hasEnded: polled?.hasEnded === true,
      });
    }
  });
}

/** Settles the calls whose deadline has passed and that cannot be polled, by what was delivered. */
export async function settleExpired(warehouse: Warehouse, scope: LateScope): Promise<void> {
  const { rows } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempts a
    where status = 'awaiting' and next_poll_at is null and awaited_until <= clock_timestamp() and ${hasGaps}
      and ${isInScope(scope, sql`a.run_id`, sql`a.awaited_until`)}
  `.execute(warehouse.database);
  for (const { attemptId } of rows) await endByLastBody(warehouse, attemptId);
}

/**
 * Handles the service's report that a request has no results. If something was delivered that can be a result, the
 * service contradicts itself, and the run waits. Vendors can bill a search that has found nothing.
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
    const isFree = kinds.every((kind) => !deliveryKinds[lateKinds[kind].deliveredBy].costsWithoutResults);
    if (isFree && rows.length === 0) await endResults(transaction, call, kinds);
    else await leaveUnknown(transaction, attemptId, uncertainCost);
  });
}

/**
 * Marks calls unknown whose results can no longer be fetched: past the deadline without polls, or older than the
 * service keeps results. The same holds for calls that lack only a price, if the poll for it brought none. The operator
 * decides about them. A delivery that still arrives is applied and settles its call.
 */
export async function markExpiredUnknown(warehouse: Warehouse, scope: LateScope): Promise<void> {
  await sql`
    update attempts a set status = 'unknown', next_poll_at = null,
      reason = concat_ws('; ', reason,
        case when ${hasGaps} then 'the late results did not come' else ${uncertainCost} end)
    where status = 'awaiting'
      and ${isInScope(scope, sql`a.run_id`, sql`a.awaited_until`)}
      and case
        when ${hasGaps} then awaited_until < clock_timestamp() and (next_poll_at is null
          or answered_at < clock_timestamp() - make_interval(secs => ${keptByServiceSeconds}))
        else next_poll_at is null
          or exists (select 1 from webhook_deliveries d
            where d.attempt_id = a.attempt_id and d.origin = 'poll' and d.status <> 'received')
      end
  `.execute(warehouse.database);
}
