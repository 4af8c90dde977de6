import type { Kysely } from 'kysely';
import { peoplePerCall } from '../../contract/batch-sizes.ts';
import type { Tables } from '../../db/schema.ts';
import { estimateSeconds } from '../../domain/rates/eta.ts';
import { trustedSeconds, type RateLimit } from '../../domain/rates/rate-limit.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { freeSlots, ownFreeSlots } from '../../ledger/rate-windows.ts';
import { readReports, type RateScope } from '../../ledger/rate-reports.ts';
import type { ProgressFigures } from './progress.ts';

/** Waiting for the windows takes longer than the calls do. */
const noTimePerCall = { secondsPerCall: 0, concurrency: 1 };

/**
 * Reads why the calls of a run wait, and when the windows let the last of them pass.
 *
 * @param limits RATE_LIMITS of the workers, without the windows that the service reports
 * @param people people for whom no call was made yet
 */
export async function readCallWait(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
  people: number,
): Promise<Required<Pick<ProgressFigures, 'waiting' | 'etaSeconds'>>> {
  const { wait } = await freeSlots(database, of, limits);
  const waitSeconds = (wait?.milliseconds ?? 0) / 1_000;
  const waiting =
    wait && waitSeconds >= 1 ? `waiting ${formatElapsed(waitSeconds)}: ${wait.reason}` : undefined;
  const reports = await readReports(database, of);
  // One call an hour asks whether such a window has ended. No header says when it ends.
  if (reports.some(({ free, seconds }) => free === 0 && seconds > trustedSeconds))
    return { waiting, etaSeconds: null };
  // Calls come in bursts, so the pace until now does not tell when the windows let the last of them pass.
  const windows = wait
    ? [...limits, ...reports].map((window) => ({ ...window, free: window.calls }))
    : [...(await ownFreeSlots(database, of.scope, limits)), ...reports];
  const seconds = waitSeconds + estimateSeconds(Math.ceil(people / peoplePerCall), windows, noTimePerCall);
  return { waiting, etaSeconds: seconds > 0 ? seconds : undefined };
}
