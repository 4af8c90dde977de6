import { sql } from 'kysely';
import type { PauseReason } from '../../contract/pause-reasons.ts';
import { describeRate, hasFallenBelow, matchRate, type Matches } from '../../domain/runs/match-rate.ts';
import { answeredOutcomes } from '../../domain/runs/outcome.ts';
import { formatPercent } from '../../domain/text/format.ts';
import type { Warehouse } from '../../db/database.ts';
import { databaseTime, anyOf } from '../../db/expressions.ts';
import { peopleWithRows } from '../pages.ts';

/** About 500 people: the confidence interval then has about seven percentage points to either side. */
const callsWatched = 50;

/**
 * Checks after a call whether the match rate of the latest calls is significantly below the minimum.
 *
 * @param minimum share from 0 to 1; null: no check
 * @returns why the run should pause; undefined: it continues
 */
export async function watchMatchRate(
  warehouse: Warehouse,
  runId: string,
  minimum: number | null,
): Promise<PauseReason | undefined> {
  if (minimum === null) return undefined;
  const latest = await readLatestMatches(warehouse, runId, callsWatched);
  if (!hasFallenBelow(minimum, latest) || !(await hasOpenPeople(warehouse, runId))) return undefined;
  const rate = matchRate(latest);
  return {
    type: 'match-rate.below',
    reason:
      `the match rate has fallen below ${formatPercent(minimum)}: ${latest.found} of the last ` +
      `${latest.answered} people were found, ${rate ? describeRate(rate) : ''}`,
    next: 'check the rows of the latest calls',
  };
}

/**
 * What the latest calls of a run found. Only calls count that were answered after the match rate last paused the run.
 */
async function readLatestMatches(warehouse: Warehouse, runId: string, calls: number): Promise<Matches> {
  const latest = await sql<Matches>`
    select count(*) filter (where p.outcome = 'enriched')::int as found,
      count(*) filter (where p.outcome in (${anyOf(answeredOutcomes)}))::int as answered
    from (
      select a.attempt_id from attempts a join runs r using (run_id)
      where a.run_id = ${runId} and a.answered_at is not null
        and (r.match_rate_since is null or a.answered_at > r.match_rate_since)
      order by a.answered_at desc limit ${calls}
    ) latest join attempt_people p using (attempt_id)
  `.execute(warehouse.database);
  return latest.rows[0]!;
}

/** Without open people, a pause saves no credit, and only keeps the run from finishing. */
async function hasOpenPeople({ database }: Warehouse, runId: string): Promise<boolean> {
  const { rows } = await sql`
    select from ${peopleWithRows}
    where p.run_id = ${runId} and r.outcome is null
    order by p.position desc
    limit 1
  `.execute(database);
  return rows.length > 0;
}

/** Lets the match rate start anew in a paused run: a person who resumes the run accepts the results so far. */
export async function restartMatchRate(warehouse: Warehouse, runId: string): Promise<void> {
  await warehouse.database
    .updateTable('runs')
    .set({ match_rate_since: databaseTime })
    .where('run_id', '=', runId)
    .execute();
}
