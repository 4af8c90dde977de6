import { randomUUID } from 'node:crypto';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import { endFailedCall } from '../ledger/end-failed-call.ts';
import { acquireSlot, endCall, slackSeconds, webhookResultScope, type Wait } from '../ledger/rate-windows.ts';
import type { PollAnswer, ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import type { Warehouse } from '../db/database.ts';

export interface PollDependencies {
  readonly warehouse: Warehouse;
  /** The service's name in the table `runs`. */
  readonly service: string;
  readonly client: ServiceClient;
  readonly rateLimits: readonly RateLimit[];
  readonly callTimeoutSeconds: number;
}

/**
 * Polls once, within the rate windows of polls, which are separate from the windows of paid calls. Rate reports of the
 * service update them in the same way.
 *
 * @returns `full`: there is no slot now, and nothing was sent
 * @throws ServiceFailure
 */
export async function pollWithinLimits(
  dependencies: PollDependencies,
  requestId: string,
  signal: AbortSignal,
): Promise<{ readonly kind: 'answered'; readonly answer: PollAnswer } | ({ readonly kind: 'full' } & Wait)> {
  const { warehouse, service, client, rateLimits, callTimeoutSeconds } = dependencies;
  const { database } = warehouse;
  const polls = { service, scope: webhookResultScope };
  const callId = `poll:${randomUUID()}`;
  const call = { ...polls, callId, deadlineSeconds: callTimeoutSeconds + slackSeconds };
  const slot = await acquireSlot(database, call, rateLimits);
  if (slot.kind === 'full') return slot;
  try {
    const answer = await client.poll(requestId, signal);
    await endCall(database, polls, callId, true, answer);
    return { kind: 'answered', answer };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await endFailedCall(database, polls, callId, error, callTimeoutSeconds);
    if (error.type !== 'token-renewed') throw error;
    return pollWithinLimits(dependencies, requestId, signal);
  }
}
