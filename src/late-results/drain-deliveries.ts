import { createHash } from 'node:crypto';
import type { LateResultsStatus } from '../contract.ts';
import { freeSlots, webhookResultScope } from '../ledger/rate-windows.ts';
import { killPoint } from '../telemetry/kill-point.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import { readLateResult } from '../service/answers/late-result.ts';
import { applyLateResult, type DeliveryEffect } from './apply-late-result.ts';
import { contentOf } from './delivery-content.ts';
import type { Warehouse } from '../db/database.ts';
import {
  quarantineDelivery,
  readWaitingDeliveries,
  storePolled,
  type WaitingDelivery,
} from './deliveries.ts';
import { databaseErrorCode, isDatabaseAway, isDatabaseBusy } from '../db/postgres-errors.ts';
import {
  endAwaitedByPoll,
  giveUpOld,
  postponePoll,
  putPollBack,
  readLateResultsStatus,
  settleByLastPoll,
  stopPolling,
  takeDuePolls,
  type DuePoll,
  type LateScope,
} from './late-polls.ts';
import { pollWithinLimits, type PollDependencies } from './poll-within-limits.ts';

export interface LateDependencies extends PollDependencies {
  /** From the answer to the first poll; further polls wait longer from one to the next. */
  readonly pollAfterSeconds: number;
}

/** Bodies are up to some hundred KB; so many at once keep memory flat. */
const deliveriesAtOnce = 50;
const pollsAtOnce = 20;
const longestPauseSeconds = 3_600;
/** A service that asks to be polled at once, again and again, would have the workflow sync every second. */
const longestHurrySeconds = 30;

/**
 * Syncs late results: applies what lies in the inbox, polls what is due, and applies that. Safe to repeat and to run
 * beside itself: every effect is one transaction that recognises what was done. Where the window of polls is full,
 * the other polls stay due.
 *
 * @returns how many deliveries took effect now
 */
export async function syncLateResults(
  dependencies: LateDependencies,
  scope: LateScope,
  signal: AbortSignal,
): Promise<number> {
  let applied = await drainInbox(dependencies.warehouse, scope, signal);
  for (;;) {
    const due = await takeDuePolls(dependencies.warehouse, scope, pollsAtOnce);
    if (due.length === 0) break;
    for (const [index, poll] of due.entries()) {
      const polled = signal.aborted
        ? { next: false, applied: 0 }
        : await pollOnce(dependencies, poll, signal);
      applied += polled.applied;
      if (polled.next) continue;
      for (const left of due.slice(signal.aborted ? index : index + 1))
        await putPollBack(dependencies.warehouse, left.attemptId);
      signal.throwIfAborted();
      applied += await drainInbox(dependencies.warehouse, scope, signal);
      return applied;
    }
    applied += await drainInbox(dependencies.warehouse, scope, signal);
  }
  await giveUpOld(dependencies.warehouse, scope);
  return applied;
}

/** The same for one run, with the status of its late results afterwards. */
export async function syncRunResults(
  dependencies: LateDependencies,
  runId: string,
  signal: AbortSignal,
): Promise<LateResultsStatus> {
  const { warehouse, service, rateLimits } = dependencies;
  await syncLateResults(dependencies, { runId }, signal);
  const { wait } = await freeSlots(warehouse.database, { service, scope: webhookResultScope }, rateLimits);
  return readLateResultsStatus(warehouse, runId, wait?.milliseconds ?? 0);
}

/** Applies what lies in the inbox, in the order in which it came. */
export async function drainInbox(
  warehouse: Warehouse,
  scope: LateScope | { readonly attemptId: string },
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
      // It stays where it is, and would be read again forever. Only a call in flight is waited for, and none of those
      // is read here.
      if (effect === 'waiting') return applied;
    }
    if (waiting.length < deliveriesAtOnce) return applied;
  }
}

/** One delivery that the database refuses must not keep the others, and the other runs', from being applied. */
async function applyOrQuarantine(warehouse: Warehouse, delivery: WaitingDelivery): Promise<DeliveryEffect> {
  try {
    return await applyLateResult(warehouse, delivery, await contentOf(delivery));
  } catch (error) {
    if (isDatabaseAway(error) || isDatabaseBusy(error)) throw error;
    const code = databaseErrorCode(error);
    if (code === undefined) throw error;
    await quarantineDelivery(warehouse, delivery.deliveryId, `the database refuses it (${code})`);
    return 'quarantined';
  }
}

/** @returns whether a further poll can be made now, and how many deliveries took effect by this one */
async function pollOnce(
  dependencies: LateDependencies,
  poll: DuePoll,
  signal: AbortSignal,
): Promise<{ readonly next: boolean; readonly applied: number }> {
  const { warehouse } = dependencies;
  const later = pauseBetweenPolls(dependencies.pollAfterSeconds, poll.polls);
  let applied = 0;
  try {
    const callId = `poll:${poll.attemptId}:${poll.polls}`;
    const polled = await pollWithinLimits(dependencies, { callId, requestId: poll.requestId }, signal);
    if (polled.kind === 'full') {
      await putPollBack(warehouse, poll.attemptId);
      return { next: false, applied };
    }
    const { answer } = polled;
    switch (answer.state) {
      case 'pending':
        await postponePoll(
          warehouse,
          poll.attemptId,
          Math.max(answer.retryAfterSeconds ?? later, Math.min(later, longestHurrySeconds)),
        );
        break;
      case 'result':
        await storePolled(warehouse, poll.attemptId, answer.body);
        await postponePoll(warehouse, poll.attemptId, later);
        if (poll.waitIsOver) applied = await settleByPolled(warehouse, poll.attemptId, answer.body, signal);
        break;
      case 'no-result': {
        const reason = `nothing came: ${answer.deliveryStatus ?? 'no result'}`;
        // "Failed" without a result is the service's word that there is none. "Success" without one contradicts itself:
        // what was delivered may have been billed, so nothing is concluded from it.
        if (answer.deliveryStatus === 'failed') await endAwaitedByPoll(warehouse, poll.attemptId, reason);
        else await stopPolling(warehouse, poll.attemptId, reason);
        break;
      }
      case 'gone':
        await stopPolling(warehouse, poll.attemptId, `it cannot be polled: ${answer.code}`);
        break;
    }
    return { next: true, applied };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await postponePoll(warehouse, poll.attemptId, error.retryAfterSeconds ?? later);
    // A refused key or an absent service answers the next poll the same way; an answer that cannot be read is about
    // this one.
    const next = error.type === 'unreadable-answer' || error.type === 'answer-too-large';
    return { next, applied };
  }
}

/** What a poll returns once the waiting is over can be final. @returns how many deliveries took effect */
async function settleByPolled(
  warehouse: Warehouse,
  attemptId: string,
  body: Buffer,
  signal: AbortSignal,
): Promise<number> {
  const applied = await drainInbox(warehouse, { attemptId }, signal);
  const content = readLateResult(body);
  const hash = createHash('sha256').update(body).digest('hex');
  if (content) await settleByLastPoll(warehouse, attemptId, { hash, content });
  return applied;
}

/** Doubles from poll to poll, up to an hour: most results come within minutes, and some within a day. */
function pauseBetweenPolls(pollAfterSeconds: number, polls: number): number {
  return Math.min(longestPauseSeconds, Math.max(1, pollAfterSeconds) * 2 ** Math.min(polls - 1, 12));
}
