import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../contract/batch-sizes.ts';
import { isOnPage, peopleWithRows } from './people-with-rows.ts';
import { withNote } from '../../db/run-states.ts';
import type { Warehouse } from '../../db/database.ts';
import { deregisterWaitingBatches } from '../../ledger/waiting-batches.ts';

interface SkippedPeople {
  /** People who will not be asked for, because of this request or an earlier one. */
  readonly people: number;
  /** People whose call is in flight: they get the outcome of the call. */
  readonly inFlight: number;
}

/** A page of a run, from 1, and why it is skipped. */
interface SkipRequest {
  readonly runId: string;
  readonly page: number;
  readonly reason: string;
}

const pollMilliseconds = 500;

/**
 * Skips a page: at once the people who have no call in flight, and after these calls the people who still have no
 * outcome.
 *
 * @throws the signal's reason
 */
export async function skipPageAfterCalls(
  warehouse: Warehouse,
  request: SkipRequest,
  signal: AbortSignal,
): Promise<{ readonly people: number }> {
  for (;;) {
    const { people, inFlight } = await skipPage(warehouse, request);
    if (inFlight === 0) return { people };
    await sleep(pollMilliseconds, undefined, { signal });
  }
}

/**
 * Gives people of a page without an outcome the outcome `cancelled`, and releases their claims. People whose call is in
 * flight keep their claims: the answer is paid for, and is recorded for them.
 */
export async function skipPage(warehouse: Warehouse, request: SkipRequest): Promise<SkippedPeople> {
  const { runId, page } = request;
  const reason = `page ${page} was skipped: ${request.reason}`;
  return warehouse.database.transaction().execute(async (transaction) => {
    // Admission locks its rows in the same order: either admission sees the outcome, or this statement sees the call.
    const open = await sql<{ row_number: number }>`
      select r.row_number from run_rows r
      where r.run_id = ${runId} and r.outcome is null and r.row_number = any(array(
        select p.row_number from run_people p
        where p.run_id = ${runId} and ${isOnPage(page)}))
      order by r.row_number for update of r
    `.execute(transaction);
    await sql`
      with skipped as (
        update run_rows r set outcome = 'cancelled', reason = ${withNote(sql`${reason}::text`)}
        where r.run_id = ${runId} and r.row_number = any(${open.rows.map((row) => row.row_number)}::int[])
          and not exists (
            select 1 from attempt_people p join attempts a using (attempt_id)
            where p.run_id = r.run_id and p.row_number = r.row_number and a.status = 'admitted')
        returning r.row_number
      )
      delete from claims c using skipped s where c.run_id = ${runId} and c.row_number = s.row_number
    `.execute(transaction);
    const batchesPerPage = peoplePerPage / peoplePerCall;
    const [first, last] = [(page - 1) * batchesPerPage + 1, page * batchesPerPage];
    await deregisterWaitingBatches(transaction, runId, { first, last });
    const left = await sql<SkippedPeople>`
      select count(*) filter (where r.outcome = 'cancelled')::int as people,
        count(*) filter (where r.outcome is null)::int as "inFlight"
      from ${peopleWithRows}
      where p.run_id = ${runId} and ${isOnPage(page)}
    `.execute(transaction);
    return left.rows[0]!;
  });
}
