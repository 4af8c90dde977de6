import type { RunFacts } from '../../contract.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { agrees } from '../terminal/confirm.ts';
import { tell } from '../terminal/output.ts';
import type { Session } from '../session/session.ts';
import { resumeRun, waitForRun } from './steer-run.ts';

/** Whether a run is paused because what it buys may not be worth it: only a person lets it continue. */
export function isStoppedByQualityGate({ status, pauseReason }: RunRecord): boolean {
  if (status !== 'paused' || pauseReason === null) return false;
  return pauseReason.type.startsWith('pilot.') || pauseReason.type === 'match-rate.below';
}

/**
 * Asks on the terminal whether a run continues that its pilot or its match rate has stopped, and waits for it if so.
 *
 * @param facts of the run as it is now
 * @param asks a person may be asked
 * @returns how the run is afterwards
 */
export async function continueIfApproved(
  session: Session,
  facts: RunFacts,
  asks: boolean,
): Promise<RunFacts> {
  let latest = facts;
  for (;;) {
    const run = await getRun(session.warehouse, latest.run_id);
    if (!isStoppedByQualityGate(run) || !asks) return latest;
    tell(run.pauseReason?.reason ?? '');
    if (!(await agrees('continue with everybody else?'))) return latest;
    latest = await waitForRun(session, run.runId, await resumeRun(session, run));
  }
}
