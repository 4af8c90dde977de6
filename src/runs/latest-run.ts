import { sql } from 'kysely';
import { runStatuses } from '../contract/run-statuses.ts';
import type { Warehouse } from '../db/database.ts';
import { allStatuses, maySpend } from '../db/run-states.ts';

/** The state of a run that a command needs: `resume` needs a waiting run, `pause` a run in progress. */
export type RunNeed = 'waiting' | 'in-progress' | 'unfinished';

/**
 * The unfinished run that a command means by "latest". Preferred, in this order: runs in the state that the command
 * needs, runs begun by hand, newer runs. A schedule may have begun a run a minute ago, but a person at a terminal means
 * a run of their own.
 *
 * @returns undefined if every run has ended
 */
export async function findLatestFor(warehouse: Warehouse, need: RunNeed): Promise<string | undefined> {
  const preferred = allStatuses.filter((status) => runStatuses[status] === need);
  // A run of a schedule has the scheduled time as `as_of`.
  const { rows } = await sql<{ runId: string }>`
    select run_id as "runId" from runs where finished_at is null and ${maySpend}
    order by (status = any(${preferred}::text[])) desc, (as_of = created_at) desc, created_at desc limit 1
  `.execute(warehouse.database);
  return rows[0]?.runId;
}
