import { statusText } from '../../../contract/run-statuses.ts';
import type { Warehouse } from '../../../db/database.ts';
import { findLatestFor, type RunNeed } from '../../../runs/latest-run.ts';
import { getRun, type RunRecord } from '../../../runs/runs.ts';
import { tell } from '../../terminal/output.ts';

const named = 'id of a run, as status shows it, its last six characters, or "latest"';
const handFirst = 'runs begun by hand before runs of schedules';

/** Help of the argument of a command that reads a run. */
export const anyRun = `${named}: the newest of all runs, including those of schedules`;

/** Help of the argument of a command that changes a run. */
export const steeredRun: Readonly<Record<RunNeed, string>> = {
  waiting: `${named}: the newest that is paused or waits for approval, ${handFirst}`,
  'in-progress': `${named}: the newest in progress, ${handFirst}`,
  unfinished: `${named}: the newest that has not ended, ${handFirst}`,
};

/**
 * Finds the run that a command changes, and prints which run "latest" is. If all runs have ended, returns the
 * newest run, and the command reports that this run has ended.
 *
 * @param name a run's id, its shown form, its last six characters, or `latest`
 * @throws Problem `run.unknown`
 */
export async function runToSteer(warehouse: Warehouse, name: string, need: RunNeed): Promise<RunRecord> {
  if (name !== 'latest') return getRun(warehouse, name);
  const run = await getRun(warehouse, (await findLatestFor(warehouse, need)) ?? name);
  tell(`latest is ${run.runId} (${run.fileName}): ${statusText(run.status)}`);
  return run;
}
