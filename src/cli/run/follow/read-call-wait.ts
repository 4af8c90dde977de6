import { serviceName } from '../../../config/settings.ts';
import { peoplePerCall } from '../../../contract/batch-sizes.ts';
import { estimateSeconds } from '../../../domain/rates/eta.ts';
import { parseRateLimits, trustedSeconds } from '../../../domain/rates/rate-limit.ts';
import { counted } from '../../../domain/text/counted.ts';
import { formatElapsed } from '../../../domain/text/duration.ts';
import { clockIn } from '../../../domain/text/time-zone.ts';
import { readLateResultsStatus } from '../../../late-results/late-results-status.ts';
import { bulkMatchScope, freeSlots, ownFreeSlots } from '../../../ledger/rate-windows.ts';
import { readReports } from '../../../ledger/rate-reports.ts';
import type { RunRecord } from '../../../runs/runs.ts';
import type { Session } from '../../session/session.ts';
import type { ProgressFigures } from './progress.ts';

/** Waiting for the windows takes longer than the calls do. */
const noTimePerCall = { secondsPerCall: 0, concurrency: 1 };

/**
 * Reads why the calls of a run wait, and when the windows let the last of them pass. The workers that call use the
 * limits in the plan; the limits in the settings of a command can differ.
 *
 * @param left people for whom no call was made yet
 */
export async function readCallWait(
  { config, warehouse }: Session,
  { plan }: RunRecord,
  left: number,
): Promise<Required<Pick<ProgressFigures, 'waiting' | 'etaSeconds'>>> {
  const { database } = warehouse;
  const of = { service: serviceName(config), scope: bulkMatchScope };
  // Without the windows that the service reports.
  const limits = plan ? parseRateLimits(plan.ownRateLimits) : config.rateLimits;
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
  const seconds = waitSeconds + estimateSeconds(Math.ceil(left / peoplePerCall), windows, noTimePerCall);
  return { waiting, etaSeconds: seconds > 0 ? seconds : undefined };
}

/** @returns which late results a run awaits, and its deadline; undefined: the run awaits none */
export async function readLateWait(
  { warehouse }: Pick<Session, 'warehouse'>,
  runId: string,
): Promise<string | undefined> {
  const { awaited, until } = await readLateResultsStatus(warehouse, runId);
  if (awaited === 0 || until === null) return undefined;
  return `${counted(awaited, 'call')} awaited until ${clockIn('UTC', new Date(until))} UTC`;
}
