import { sql } from 'kysely';
import type { RunStatus } from '../contract.ts';
import type { Warehouse } from '../db/database.ts';
import { maySpend } from '../db/run-states.ts';

/**
 * What a word to a run needs of it: that it waits for a person (to be resumed), that it continues (to be paused), or
 * only that it has not ended.
 */
export type RunNeed = 'waiting' | 'going-on' | 'unfinished';

/** The statuses that a word is for, where it is not for all. */
const meant: Readonly<Record<RunNeed, readonly RunStatus[]>> = {
  waiting: ['paused', 'awaiting_approval'],
  'going-on': ['ingesting', 'planning', 'running'],
  unfinished: [],
};

/**
 * The run that a person means by "latest" who wants to do something with it: of those that have not ended the newest,
 * those first that the word is for, and of these those that were begun by hand. A schedule may have begun one a minute
 * ago, and no person at a terminal means that while a run of their own is there.
 *
 * @returns undefined where every run has ended
 */
export async function findLatestFor(warehouse: Warehouse, need: RunNeed): Promise<string | undefined> {
  // Whatever a schedule begins stands for a time of its own.
  const { rows } = await sql<{ runId: string }>`
    select run_id as "runId" from runs where finished_at is null and ${maySpend}
    order by (status = any(${[...meant[need]]}::text[])) desc, (as_of = created_at) desc, created_at desc limit 1
  `.execute(warehouse.database);
  return rows[0]?.runId;
}
