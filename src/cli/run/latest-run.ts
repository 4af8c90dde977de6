import type { Warehouse } from '../../db/database.ts';
import { findLatestFor, type RunNeed } from '../../runs/latest-run.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { tell } from '../terminal/output.ts';

const handFirst = 'runs begun by hand before those of schedules';

/** What the argument of a command stands for that only looks at a run. */
export const anyRun = 'id of a run, or "latest": the newest, whoever began it';

/** What the argument of a command stands for that does something with a run. */
export const steeredRun: Readonly<Record<RunNeed, string>> = {
  waiting: `id of a run, or "latest": the newest that is paused or waits for a yes, ${handFirst}`,
  'in-progress': `id of a run, or "latest": the newest that is going on, ${handFirst}`,
  unfinished: `id of a run, or "latest": the newest that has not ended, ${handFirst}`,
};

/**
 * The run that a command is to do something with. Which one "latest" is, is told; where all have ended it is the newest
 * of all, and the command says that there is nothing to do.
 *
 * @param name a run's id, or `latest`
 * @throws Problem `run.unknown`
 */
export async function runToSteer(warehouse: Warehouse, name: string, need: RunNeed): Promise<RunRecord> {
  if (name !== 'latest') return getRun(warehouse, name);
  const run = await getRun(warehouse, (await findLatestFor(warehouse, need)) ?? name);
  tell(`latest is ${run.runId} (${run.fileName}): ${run.status.replaceAll('_', ' ')}`);
  return run;
}
