import { randomUUID } from 'node:crypto';
import type { LateResultsStatus } from '../contract/run-facts.ts';
import {
  countFreeSlots,
  webhookResultScope,
  acquireSlot,
  endCall,
  admissionSlackSeconds,
  endFailedCall,
  type SlotWait,
} from '../ledger/rate-windows.ts';
import {
  settleByLastBody,
  endWithoutResults,
  markExpiredCallsUnknown,
  settleExpiredCalls,
  isRunOfService,
  takeDuePolls,
  postponePoll,
  returnPoll,
  stopPolling,
  type DuePoll,
} from './end-of-wait.ts';
import type { LateResultsScope } from './expected-results.ts';
import { isTransientDatabaseError, databaseErrorCode } from '../db/postgres-errors.ts';
import type { Warehouse } from '../db/database.ts';
import { killPoint } from '../telemetry/kill-point.ts';
import { applyLateResult, type DeliveryEffect } from './apply-late-result.ts';
import {
  readWaitingDeliveries,
  readStoredDelivery,
  storePolledBody,
  type WaitingDelivery,
} from './deliveries.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { PollAnswer, ServiceClient } from '../service/client.ts';
import { sql } from 'kysely';

const pollsAtOnce = 20;
/** Time until the next try if this worker cannot poll for the run. A worker of its service may start meanwhile. */
const otherServiceMilliseconds = 300_000;

/**
 * Applies the inbox, makes due polls and applies their bodies. Polls without a slot stay due. Repeated or simultaneous
 * syncs do no harm, because each effect happens once. @returns the number of deliveries that took effect
 */
export async function syncLateResults(
  dependencies: LateResultsDependencies,
  scope: LateResultsScope,
  signal: AbortSignal,
): Promise<number> {
  let applied = await drainInbox(dependencies.warehouse, scope, signal);
  for (;;) {
    const due = await takeDuePolls(dependencies.warehouse, dependencies.service, scope, pollsAtOnce);
    if (due.length === 0) break;
    const polled = await makePolls(dependencies, due, signal);
    signal.throwIfAborted();
    applied += polled.applied + (await drainInbox(dependencies.warehouse, scope, signal));
    if (!polled.next) return applied;
  }
  await settleExpiredCalls(dependencies.warehouse, scope);
  await markExpiredCallsUnknown(dependencies.warehouse, scope);
  return applied;
}

/** Syncs the late results of one run, and returns their status afterwards. */
export async function syncRunResults(
  dependencies: LateResultsDependencies,
  runId: string,
  signal: AbortSignal,
): Promise<LateResultsStatus> {
  const { warehouse, service, rateLimits } = dependencies;
  await syncLateResults(dependencies, { runId }, signal);
  if (!(await isRunOfService(warehouse, runId, service)))
    return readLateResultsStatus(warehouse, runId, otherServiceMilliseconds);
  const { wait } = await countFreeSlots(
    warehouse.database,
    { service, scope: webhookResultScope },
    rateLimits,
  );
  return readLateResultsStatus(warehouse, runId, wait?.milliseconds ?? 0);
}

/** Number of deliveries that are read together. A body has up to some hundred KB, so this number bounds memory. */
const deliveriesAtOnce = 50;

/** Applies the deliveries in the inbox, the oldest first. */
export async function drainInbox(
  warehouse: Warehouse,
  scope: LateResultsScope | { readonly attemptId: string },
  signal: AbortSignal,
): Promise<number> {
  let applied = 0;
  for (;;) {
    const waiting = await readWaitingDeliveries(warehouse, scope, deliveriesAtOnce);
    for (const delivery of waiting) {
      signal.throwIfAborted();
      const effect = await applyOrQuarantine(warehouse, delivery);
      if (effect === 'applied') {
        applied += 1;
        killPoint('delivery-applied');
      }
      // Stops here, because this delivery would be read again forever. It should not occur: only calls in flight keep
      // deliveries waiting, and those deliveries are not read.
      if (effect === 'waiting') return applied;
    }
    if (waiting.length < deliveriesAtOnce) return applied;
  }
}

/** Quarantines a delivery that PostgreSQL refuses, so that it does not block other deliveries. */
async function applyOrQuarantine(warehouse: Warehouse, delivery: WaitingDelivery): Promise<DeliveryEffect> {
  try {
    return await applyLateResult(warehouse, delivery, await readStoredDelivery(delivery.body));
  } catch (error) {
    if (isTransientDatabaseError(error)) throw error;
    const code = databaseErrorCode(error);
    if (code === undefined) throw error;
    await sql`
      update webhook_deliveries
      set status = 'quarantined', reason = ${`the database refuses it (${code})`}, applied_at = clock_timestamp()
      where delivery_id = ${delivery.deliveryId} and status = 'received'
    `.execute(warehouse.database);
    return 'quarantined';
  }
}

/** Longest pause between two polls of a call. */
const longestPauseSeconds = 3_600;
/** Shortest pause between syncs. A service that requests immediate polls would cause a sync every second. */
const shortestPauseSeconds = 30;

export interface LateResultsDependencies extends PollDependencies {
  /** Seconds from the answer to the first poll. The pauses between further polls grow. */
  readonly pollAfterSeconds: number;
}

/** What polls have done: whether more can follow, and how many deliveries took effect. */
interface Polled {
  /** True if another poll can be made now. */
  readonly next: boolean;
  readonly applied: number;
}

/** Makes due polls one after another, and returns polls that cannot be made now. */
async function makePolls(
  dependencies: LateResultsDependencies,
  due: readonly DuePoll[],
  signal: AbortSignal,
): Promise<Polled> {
  let [made, applied, next] = [0, 0, true];
  for (; next && !signal.aborted && made < due.length; made += 1) {
    const polled = await pollOnce(dependencies, due[made]!, signal);
    applied += polled.applied;
    ({ next } = polled);
  }
  for (const { attemptId } of due.slice(made)) await returnPoll(dependencies.warehouse, attemptId);
  return { next, applied };
}

/**
 * Makes one poll, stores its body, and schedules the next poll. After the deadline the body settles the call. A failure
 * of the service postpones the poll.
 */
async function pollOnce(
  dependencies: LateResultsDependencies,
  poll: DuePoll,
  signal: AbortSignal,
): Promise<Polled> {
  const { warehouse } = dependencies;
  const later = pauseBetweenPolls(dependencies.pollAfterSeconds, poll.polls);
  let applied = 0;
  try {
    const polled = await pollWithinLimits(dependencies, poll.requestId, signal);
    if (polled.kind === 'full') {
      await returnPoll(warehouse, poll.attemptId);
      return { next: false, applied };
    }
    const { answer } = polled;
    switch (answer.state) {
      case 'pending':
        await postponePoll(warehouse, poll.attemptId, pauseAsked(answer.retryAfterSeconds, later));
        break;
      case 'result':
        await storePolledBody(warehouse, poll.attemptId, answer.body);
        await postponePoll(warehouse, poll.attemptId, later);
        if (poll.waitIsOver) {
          applied = await drainInbox(warehouse, { attemptId: poll.attemptId }, signal);
          const hasEnded = answer.deliveryStatus === 'success' || answer.deliveryStatus === 'failed';
          await settleByLastBody(warehouse, poll.attemptId, { body: answer.body, hasEnded });
        }
        break;
      case 'no-result': {
        const reason = `the poll has the status ${answer.deliveryStatus} and no result`;
        // Status "failed" without a result means that no result exists. Status "success" without a result is a
        // contradiction: results may have been billed and may still arrive, so the call stays open.
        if (answer.deliveryStatus === 'failed') await endWithoutResults(warehouse, poll.attemptId, reason);
        else if (!poll.waitIsOver) await postponePoll(warehouse, poll.attemptId, later);
        else await stopPolling(warehouse.database, poll.attemptId, reason);
        break;
      }
      case 'gone':
        await stopPolling(warehouse.database, poll.attemptId, `it cannot be polled: ${answer.code}`);
        break;
    }
    return { next: true, applied };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    if (signal.aborted) await returnPoll(warehouse, poll.attemptId);
    else await postponePoll(warehouse, poll.attemptId, pauseAsked(error.retryAfterSeconds, later));
    if (poll.waitIsOver && refusedForGood.includes(error.type))
      await settleByLastBody(warehouse, poll.attemptId);
    // A refused key or an unreachable service stops all polls. An unreadable answer stops only this poll.
    const next = error.type === 'unreadable-answer' || error.type === 'answer-too-large';
    return { next, applied };
  }
}

/** Failures that show that the service offers no poll for a request. Status 401 or 429 leaves this open. */
const refusedForGood: readonly string[] = ['not-found', 'forbidden', 'validation', 'refused'];

/** The pause that the service requests, within bounds. @param later the pause if the service requests none */
function pauseAsked(seconds: number | undefined, later: number): number {
  return Math.min(longestPauseSeconds, Math.max(seconds ?? later, Math.min(later, shortestPauseSeconds)));
}

/** Pause before the next poll. It doubles up to an hour: most results arrive in minutes, some within a day. */
function pauseBetweenPolls(pollAfterSeconds: number, polls: number): number {
  return Math.min(longestPauseSeconds, Math.max(1, pollAfterSeconds) * 2 ** Math.min(polls - 1, 12));
}

/** What a poll needs; `service` is the one that this worker calls. */
export interface PollDependencies {
  readonly warehouse: Warehouse;
  /** Name of the service in table `runs`. */
  readonly service: string;
  readonly client: ServiceClient;
  readonly rateLimits: readonly RateLimit[];
  readonly callTimeoutSeconds: number;
}

/**
 * Makes one poll within the rate windows of polls, which are separate from those of paid calls.
 *
 * @returns `full`: no slot is free now, and nothing was sent
 * @throws ServiceFailure
 */
export async function pollWithinLimits(
  dependencies: PollDependencies,
  requestId: string,
  signal: AbortSignal,
): Promise<
  { readonly kind: 'answered'; readonly answer: PollAnswer } | ({ readonly kind: 'full' } & SlotWait)
> {
  const { warehouse, service, client, rateLimits, callTimeoutSeconds } = dependencies;
  const { database } = warehouse;
  const polls = { service, scope: webhookResultScope };
  const callId = `poll:${randomUUID()}`;
  const call = { ...polls, callId, deadlineSeconds: callTimeoutSeconds + admissionSlackSeconds };
  const slot = await acquireSlot(database, call, rateLimits);
  if (slot.kind === 'full') return slot;
  try {
    const answer = await client.poll(requestId, signal);
    await endCall(database, polls, callId, 'accepted', answer);
    return { kind: 'answered', answer };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await endFailedCall(database, polls, callId, error, callTimeoutSeconds);
    if (error.type !== 'token-renewed') throw error;
    return pollWithinLimits(dependencies, requestId, signal);
  }
}

/** Reads the status of a run's late results. A sync before `pollWaitMilliseconds` would have no slot for a poll. */
export async function readLateResultsStatus(
  warehouse: Warehouse,
  runId: string,
  pollWaitMilliseconds = 0,
): Promise<LateResultsStatus> {
  const attempts = await sql<{
    until: Date | null;
    now: Date;
    poll: Date | null;
    next: Date | null;
  }>`
    select max(awaited_until) filter (where awaits_still) as until, now,
      min(next_poll_at) filter (where status = 'awaiting') as poll,
      -- If no poll is due, the function greatest would return the current time.
      least(
        min(greatest(next_poll_at, now + make_interval(secs => ${pollWaitMilliseconds / 1_000})))
          filter (where awaits_still and next_poll_at is not null),
        min(awaited_until) filter (where awaits_still)
      ) as next
    from (select clock_timestamp() as now) clock
    left join lateral (
      select status, awaited_until, next_poll_at, status = 'awaiting' and awaited_until > now as awaits_still
      from attempts where run_id = ${runId} and status = 'awaiting'
    ) a on true
    group by now
  `.execute(warehouse.database);
  const figures = await sql<Omit<LateResultsStatus, 'until' | 'readAt' | 'nextPollAt' | 'nextSyncAt'>>`
    select awaited, expired, arrived, polled, late, duplicate, quarantined, waiting
    from run_late_results where run_id = ${runId}
  `.execute(warehouse.database);
  const { until, now, poll, next } = attempts.rows[0]!;
  return {
    ...figures.rows[0]!,
    until: until?.toISOString() ?? null,
    readAt: now.toISOString(),
    nextPollAt: poll?.toISOString() ?? null,
    nextSyncAt: next?.toISOString() ?? null,
  };
}
