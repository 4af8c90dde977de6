import { randomUUID } from 'node:crypto';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import {
  endCall,
  abandonCall,
  pauseScope,
  releaseSlot,
  acquireSlot,
  webhookResultScope,
  type Wait,
} from '../ledger/rate-windows.ts';
import type { PollAnswer, ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import type { Warehouse } from '../db/database.ts';

export interface PollDependencies {
  readonly warehouse: Warehouse;
  /** As the runs name it. */
  readonly service: string;
  readonly client: ServiceClient;
  readonly rateLimits: readonly RateLimit[];
  readonly callTimeoutSeconds: number;
}

/**
 * Polls once, in the windows that polls are counted in: they are apart from those of the calls that are paid for, and
 * what the service says of them is believed in the same way.
 *
 * @returns `full`: there is no slot now, and nothing was sent
 * @throws ServiceFailure
 */
export async function pollWithinLimits(
  dependencies: PollDependencies,
  { callId, requestId }: { readonly callId: string; readonly requestId: string },
  signal: AbortSignal,
): Promise<{ readonly kind: 'answered'; readonly answer: PollAnswer } | ({ readonly kind: 'full' } & Wait)> {
  const { warehouse, service, client, rateLimits, callTimeoutSeconds } = dependencies;
  const { database } = warehouse;
  const polls = { service, scope: webhookResultScope };
  const call = { ...polls, callId, deadlineSeconds: callTimeoutSeconds };
  const place = await database
    .transaction()
    .execute((transaction) => acquireSlot(transaction, call, rateLimits));
  if (place.kind === 'full') return place;
  try {
    const answer = await client.poll(requestId, signal);
    await endCall(database, polls, callId, true, answer);
    return { kind: 'answered', answer };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    if (error.disposition === 'wait')
      await pauseScope(database, webhookResultScope, callId, error.retryAfterSeconds);
    if (error.type.startsWith('not-sent.')) await releaseSlot(database, callId);
    else if (error.httpStatus === undefined) await abandonCall(database, callId, callTimeoutSeconds);
    else await endCall(database, polls, callId, false, error);
    if (error.type !== 'token-renewed') throw error;
    return pollWithinLimits(dependencies, { callId: randomUUID(), requestId }, signal);
  }
}
