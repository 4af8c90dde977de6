import { sql, type Kysely } from 'kysely';
import type { PauseReason, PauseReasonType } from '../contract/pause-reasons.ts';
import type { RunFacts } from '../contract/run-facts.ts';
import type { Warehouse } from '../db/database.ts';
import { formatCount, nounFor } from '../domain/text/format.ts';
import { markAttemptUnknown } from '../ledger/close-attempt.ts';
import { pauseCalls } from '../ledger/admit.ts';
import { readRunFacts } from './read-run-facts.ts';
import { getRun } from './runs.ts';
import { isUnfinished, withEarlierNote } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';

/**
 * Ends a run after all its calls. If calls are in flight or rows lack an outcome, the database has lost commits: the
 * calls become `unknown`, and the run pauses. A run stays paused if its late results cost more than their worst case.
 *
 * @param ending `finished` requires that every row has an outcome
 * @param budget the budget that is used up, if this ends the run
 */
export async function finishRun(
  warehouse: Warehouse,
  runId: string,
  ending: 'finished' | 'over_budget' | 'cancelled',
  budget: string | undefined,
): Promise<RunFacts> {
  const overbilled: PauseReasonType = 'service.overbilled';
  const { status, pauseReason } = await getRun(warehouse, runId);
  if (ending === 'cancelled') await endCancelled(warehouse, runId);
  else if (status !== 'paused' || pauseReason?.type !== overbilled) {
    const reason = `no credits were left in ${budget ?? 'a budget'}`;
    const rest = ending === 'over_budget' ? ({ outcome: ending, reason } as const) : undefined;
    await endOpenCalls(warehouse, runId, 'the database has lost the answer of this call');
    const lost = rest ? undefined : await lostCallsOf(warehouse, runId);
    if (lost) await pauseCalls(warehouse.database, runId, lost);
    else await endRun(warehouse, runId, 'finished', rest);
  }
  return readRunFacts(warehouse, runId);
}

/** Ends a run without a workflow: open calls, which may have been sent, become `unknown`, other rows `cancelled`. */
export async function endAbandonedRun(warehouse: Warehouse, runId: string): Promise<void> {
  await endOpenCalls(warehouse, runId, 'the run was cancelled before this call was recorded');
  await endCancelled(warehouse, runId);
}

/** Marks calls without a recorded end as unknown, because they may have been billed. */
async function endOpenCalls(warehouse: Warehouse, runId: string, reason: string): Promise<void> {
  const { rows } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempts where run_id = ${runId} and status = 'admitted'
  `.execute(warehouse.database);
  for (const { attemptId } of rows) await markAttemptUnknown(warehouse, attemptId, reason);
}

/** The reason to pause if rows lack an outcome after all calls, which only a lost database commit can cause. */
async function lostCallsOf(warehouse: Warehouse, runId: string): Promise<PauseReason | undefined> {
  const rows = await countOpenRows(warehouse.database, runId);
  if (rows === 0) return undefined;
  return {
    type: 'database.lost-calls',
    reason:
      `${formatCount(rows, 'row')} ${nounFor(rows, 'has', 'have')} no outcome, ` +
      'and Temporal has completed their calls',
    next:
      'the database was restored or failed over, and has lost calls that may be billed: follow "After a failover to ' +
      `a replica that lagged" in docs/guides/restore.md, then enrich cancel ${runId}`,
  };
}

function endCancelled(warehouse: Warehouse, runId: string): Promise<void> {
  return endRun(warehouse, runId, 'cancelled', { outcome: 'cancelled', reason: 'the run was cancelled' });
}

/** Counts the rows without an outcome. */
async function countOpenRows(database: Kysely<Tables>, runId: string): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from run_rows where run_id = ${runId} and outcome is null
  `.execute(database);
  return rows[0]!.open;
}

/**
 * Ends a run, unless it has ended: other rows get the outcome of `rest`, and claims are released, except of unknown
 * calls, so that no other run pays again. Without `rest`, every row must have an outcome.
 */
export async function endRun(
  warehouse: Warehouse,
  runId: string,
  status: 'finished' | 'cancelled',
  rest: { outcome: 'over_budget' | 'cancelled'; reason: string } | undefined,
): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    // The run is locked first, like in staging and planning, because a worker that lost Temporal may still add rows.
    await sql`select from runs where run_id = ${runId} for update`.execute(transaction);
    if (rest)
      await sql`
        update run_rows r set outcome = ${rest.outcome}, reason = ${withEarlierNote(sql`${rest.reason}::text`)}
        where run_id = ${runId} and outcome is null
      `.execute(transaction);
    if ((await countOpenRows(transaction, runId)) > 0)
      throw new Error(`run ${runId} cannot end: rows are left without an outcome`);
    // This form avoids `not exists`, which was slow on a table that retention had emptied: PostgreSQL read all rows of
    // the run for each claim.
    await sql`
      delete from claims c where c.run_id = ${runId} and 0 = (
        select count(*) from run_rows r
        where r.run_id = c.run_id and r.row_number = c.row_number and r.outcome = 'unknown')
    `.execute(transaction);
    await sql`
      update runs
      set status = ${status}, finished_at = coalesce(finished_at, clock_timestamp()), pause_reason = null
      where run_id = ${runId} and ${isUnfinished}
    `.execute(transaction);
  });
}
