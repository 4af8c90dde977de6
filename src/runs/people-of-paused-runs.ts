import { sql, type Kysely } from 'kysely';
import type { StatusReason } from '../contract/pause-reasons.ts';
import type { Tables } from '../db/schema.ts';
import { counted, countedPeople, nounFor } from '../domain/text/counted.ts';
import { isCallUnknown } from './pages/claims.ts';

/** A paused run that has begun to ask for people, and the number of rows of another run that are these people. */
export interface PausedRun {
  readonly runId: string;
  readonly people: number;
}

/** Finds the runs that are paused now and keep people of a run `in_flight`; the run with the most people first. */
export async function readPausedRuns(database: Kysely<Tables>, runId: string): Promise<readonly PausedRun[]> {
  const { rows } = await sql<PausedRun>`
    select paused.run_id as "runId", count(*)::int as people
    from run_rows r
    join runs paused on paused.run_id = r.claimed_by_run_id and paused.status = 'paused'
    left join run_rows claimed on claimed.run_id = r.claimed_by_run_id
      and claimed.row_number = r.claimed_by_row_number
    where r.run_id = ${runId} and r.outcome = 'in_flight' and not ${isCallUnknown}
    group by paused.run_id
    order by people desc, paused.run_id
  `.execute(database);
  return rows;
}

/** What a person can do about the people who wait in paused runs. Undefined: there are none. */
export function peopleInPausedRuns(runs: readonly PausedRun[]): StatusReason | undefined {
  const [first] = runs;
  if (first === undefined) return undefined;
  const people = runs.reduce((sum, each) => sum + each.people, 0);
  return {
    type: 'people.in-paused-run',
    reason:
      `${countedPeople(people)} ${nounFor(people, 'waits', 'wait')} in ` +
      `${runs.length === 1 ? 'a paused run' : counted(runs.length, 'paused run')}, and no other run asks for them: ` +
      runs.map(({ runId }) => runId).join(', '),
    next:
      `enrich resume ${first.runId} continues with the options of that run; or enrich cancel ${first.runId} ends it, ` +
      'then repeat the command',
  };
}
