import { createHash } from 'node:crypto';
import type { Warehouse } from '../db/database.ts';
import { readLateResult } from '../service/answers/late-result.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import { storePolled } from './deliveries.ts';
import { drainInbox } from './drain-inbox.ts';
import { settleByDelivered, settleByLastBody } from './last-bodies.ts';
import { endAwaitedByPoll, postponePoll, returnPoll, stopPolling, type DuePoll } from './late-polls.ts';
import { pollWithinLimits, type PollDependencies } from './poll-within-limits.ts';

const longestPauseSeconds = 3_600;
/** Shortest pause: a service that asks for immediate polls would otherwise make the workflow sync every second. */
const shortestPauseSeconds = 30;

export interface LateDependencies extends PollDependencies {
  /** Time from the answer to the first poll; each further poll waits longer. */
  readonly pollAfterSeconds: number;
}

interface Polled {
  /** Another poll can be made now. */
  readonly next: boolean;
  /** How many deliveries took effect. */
  readonly applied: number;
}

/** Makes polls one after another, and returns the polls that cannot be made now. */
export async function makePolls(
  dependencies: LateDependencies,
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

async function pollOnce(dependencies: LateDependencies, poll: DuePoll, signal: AbortSignal): Promise<Polled> {
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
        await storePolled(warehouse, poll.attemptId, answer.body);
        await postponePoll(warehouse, poll.attemptId, later);
        if (poll.waitIsOver) applied = await settleByPolled(warehouse, poll.attemptId, answer, signal);
        break;
      case 'no-result': {
        const reason = `the poll has the status ${answer.deliveryStatus} and no result`;
        // "Failed" without a result means that there is none. "Success" without a result contradicts itself: results
        // may have been billed and may still come, so the call stays open.
        if (answer.deliveryStatus === 'failed') await endAwaitedByPoll(warehouse, poll.attemptId, reason);
        else if (poll.isAwaited) await postponePoll(warehouse, poll.attemptId, later);
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
    if (poll.waitIsOver && cannotBePolled(error)) await settleByDelivered(warehouse, poll.attemptId);
    // A refused key or an absent service concerns all polls. An unreadable answer concerns only this poll.
    const next = error.type === 'unreadable-answer' || error.type === 'answer-too-large';
    return { next, applied };
  }
}

/** After the deadline a poll's body can be final. @returns how many deliveries took effect */
async function settleByPolled(
  warehouse: Warehouse,
  attemptId: string,
  { body, deliveryStatus }: { readonly body: Buffer; readonly deliveryStatus: string | undefined },
  signal: AbortSignal,
): Promise<number> {
  const applied = await drainInbox(warehouse, { attemptId }, signal);
  const content = readLateResult(body);
  const hash = createHash('sha256').update(body).digest('hex');
  const hasEnded = deliveryStatus === 'success' || deliveryStatus === 'failed';
  const from = hasEnded ? 'poll' : 'unfinished poll';
  if (content) await settleByLastBody(warehouse, attemptId, { hash, content, from });
  return applied;
}

/** Whether the service offers no poll for a request. A refused credential or rate says nothing about this. */
function cannotBePolled({ type }: ServiceFailure): boolean {
  return type === 'not-found' || type === 'forbidden' || type === 'validation' || type === 'refused';
}

/** The pause that the service asks for, within bounds. @param later the pause if the service asks for none */
function pauseAsked(seconds: number | undefined, later: number): number {
  return Math.min(longestPauseSeconds, Math.max(seconds ?? later, Math.min(later, shortestPauseSeconds)));
}

/** Doubles from poll to poll, up to an hour: most results arrive within minutes, some within a day. */
function pauseBetweenPolls(pollAfterSeconds: number, polls: number): number {
  return Math.min(longestPauseSeconds, Math.max(1, pollAfterSeconds) * 2 ** Math.min(polls - 1, 12));
}
