import { isQualityGate, type PauseReasonType } from '../../contract/pause-reasons.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { agrees } from '../terminal/confirm.ts';
import { tell } from '../terminal/output.ts';
import type { Session } from '../session/session.ts';
import { resumeRun, waitForRun } from './steer/steer-run.ts';

const byPerson: PauseReasonType = 'run.paused';

/**
 * Whether only a person lets a run continue: a quality gate has paused it, or a person has. A run without an approval
 * asks in any case, if a person can answer.
 *
 * @param asks whether a person can answer
 */
export function waitsForPerson({ status, pauseReason, isApproved }: RunRecord, asks: boolean): boolean {
  if (status !== 'paused' || pauseReason === null) return false;
  return isQualityGate(pauseReason.type) || ((isApproved || !asks) && pauseReason.type === byPerson);
}

/**
 * Asks on the terminal whether to continue a run that waits for a person. If so, continues the run and waits.
 *
 * @param facts of the run before
 * @param asks whether a person can answer
 * @returns facts of the run afterwards
 */
export async function continueIfAgreed(session: Session, facts: RunFacts, asks: boolean): Promise<RunFacts> {
  let latest = facts;
  for (;;) {
    const run = await getRun(session.warehouse, latest.run_id);
    if (!asks || !waitsForPerson(run, asks)) return latest;
    tell(run.pauseReason?.reason ?? '');
    if (!(await agrees('continue with the other people?'))) return latest;
    latest = await waitForRun(session, await resumeRun(session, run));
  }
}
