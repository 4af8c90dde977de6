import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { RateReport, RateScope } from './rate-reports.ts';
import { abandonCall, endCall, pauseScope, releaseSlot } from './rate-windows.ts';

/** A call without a usable answer, as far as the rate windows are concerned. */
interface FailedCall extends RateReport {
  readonly type: string;
  readonly disposition: string;
  readonly httpStatus: number | undefined;
}

/**
 * Ends a call that failed. A call that was certainly never sent releases its slot. A refusal for rate (429) pauses all
 * calls of the endpoint.
 *
 * @param callSeconds the maximum duration of a call
 */
export async function endFailedCall(
  database: Kysely<Tables>,
  of: RateScope,
  callId: string,
  failure: FailedCall,
  callSeconds: number,
): Promise<void> {
  // The pause first, so that no other worker sends a call that is refused too.
  if (failure.disposition === 'wait') await pauseScope(database, of.scope, callId, failure.retryAfterSeconds);
  if (failure.type.startsWith('not-sent.')) await releaseSlot(database, callId);
  // Without an answer the service may count the call later than now.
  else if (failure.httpStatus === undefined) await abandonCall(database, callId, callSeconds);
  else await endCall(database, of, callId, isRefusedBeyondRate(failure), failure);
}

/** Whether the service refused the call for another reason than its rate, so that the call has passed rate limiting. */
function isRefusedBeyondRate({ type, disposition }: FailedCall): boolean {
  return disposition === 'pause' || disposition === 'reject' || type === 'token-renewed';
}
