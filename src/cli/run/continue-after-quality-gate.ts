import { isQualityGate } from '../../contract/pause-reasons.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { agrees } from '../terminal/confirm.ts';
import { tell } from '../terminal/output.ts';
import type { Session } from '../session/session.ts';
import { resumeRun, waitForRun } from './steer-run.ts';

/** Whether a quality gate has paused a run: only a person lets it continue. */
export function isStoppedByQualityGate({ status, pauseReason }: RunRecord): boolean {
  return status === 'paused' && pauseReason !== null && isQualityGate(pauseReason.type);
}

/**
 * Asks on the terminal whether to continue a run that a quality gate has paused. If so, continues the run and waits.
 *
 * @param facts of the run before
 * @param asks whether a person can answer
 * @returns facts of the run afterwards
 */
export async function continueAfterQualityGate(
  session: Session,
  facts: RunFacts,
  asks: boolean,
): Promise<RunFacts> {
  let latest = facts;
  for (;;) {
    const run = await getRun(session.warehouse, latest.run_id);
    if (!isStoppedByQualityGate(run) || !asks) return latest;
    tell(run.pauseReason?.reason ?? '');
    if (!(await agrees('continue with the other people?'))) return latest;
    latest = await waitForRun(session, run.runId, await resumeRun(session, run));
  }
}
