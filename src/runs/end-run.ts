import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { isUnfinished } from '../db/run-states.ts';

/**
 * Ends a run: rows without an outcome get the given outcome, claims are released, and the status becomes final. Claims
 * of people whose call is unknown stay, so that no other run pays for them again. An ended run stays as it is.
 *
 * @param rest outcome of people who were not asked for; undefined: every row must have an outcome
 */
export async function endRun(
  warehouse: Warehouse,
  runId: string,
  status: 'finished' | 'cancelled',
  rest: { outcome: 'over_budget' | 'cancelled'; reason: string } | undefined,
): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    // First, like staging and planning: a worker that lost Temporal can still add rows to the run.
    await transaction.selectFrom('runs').select('run_id').where('run_id', '=', runId).forUpdate().execute();
    if (rest) {
      await transaction
        .updateTable('run_rows')
        // A row without an outcome can have a note, such as that its contact was filled without a call.
        .set({ outcome: rest.outcome, reason: sql<string>`concat_ws('; ', ${rest.reason}::text, reason)` })
        .where('run_id', '=', runId)
        .where('outcome', 'is', null)
        .execute();
    }
    const open = await transaction
      .selectFrom('run_rows')
      .select('row_number')
      .where('run_id', '=', runId)
      .where('outcome', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (open) throw new Error(`run ${runId} cannot end: rows are left without an outcome`);
    // Not `not exists`: after retention had emptied the table, PostgreSQL read all rows of the run for each claim.
    await sql`
      delete from claims c where c.run_id = ${runId} and 0 = (
        select count(*) from run_rows r
        where r.run_id = c.run_id and r.row_number = c.row_number and r.outcome = 'unknown')
    `.execute(transaction);
    await transaction
      .updateTable('runs')
      .set({ status, finished_at: sql<Date>`coalesce(finished_at, clock_timestamp())`, pause_reason: null })
      .where('run_id', '=', runId)
      .where(isUnfinished)
      .execute();
  });
}
