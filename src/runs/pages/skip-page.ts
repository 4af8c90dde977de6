import { sql } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../contract.ts';
import type { Warehouse } from '../../db/database.ts';

const batchesPerPage = peoplePerPage / peoplePerCall;

export interface SkippedPeople {
  /** Who will not be asked for, by this word or an earlier one. */
  readonly people: number;
  /** Whose call is in flight: they get the outcome that it brings. */
  readonly inFlight: number;
}

/**
 * Gives the people of a page who have no outcome yet the outcome `cancelled`, and their claims up: no person of them
 * will be asked for. Left out are those whose call is in flight: its answer, which is paid for, is theirs.
 *
 * @param page from 1
 */
export async function skipPage(
  warehouse: Warehouse,
  request: { readonly runId: string; readonly page: number; readonly reason: string },
): Promise<SkippedPeople> {
  const { runId, page } = request;
  const reason = `page ${page} was skipped: ${request.reason}`;
  return warehouse.database.transaction().execute(async (transaction) => {
    // Admission locks the rows that it asks for in the same order: either it sees their outcome, or its call is seen
    // here.
    const open = await sql<{ row_number: number }>`
      select r.row_number from run_people p join run_rows r using (run_id, row_number)
      where p.run_id = ${runId} and p.position >= ${(page - 1) * peoplePerPage} and p.position < ${page * peoplePerPage}
        and r.outcome is null
      order by r.row_number for update of r
    `.execute(transaction);
    await sql`
      with skipped as (
        update run_rows r set outcome = 'cancelled', reason = ${reason}
        where r.run_id = ${runId} and r.row_number = any(${open.rows.map((row) => row.row_number)}::int[])
          and not exists (
            select 1 from attempt_people p join attempts a using (attempt_id)
            where p.run_id = r.run_id and p.row_number = r.row_number and a.status = 'admitted')
        returning r.row_number
      )
      delete from claims c using skipped s where c.run_id = ${runId} and c.row_number = s.row_number
    `.execute(transaction);
    // Places that were kept for its batches are free for others.
    await sql`
      delete from waiting_batches where run_id = ${runId}
        and batch > ${(page - 1) * batchesPerPage} and batch <= ${page * batchesPerPage}
    `.execute(transaction);
    const left = await sql<SkippedPeople>`
      select count(*) filter (where r.outcome = 'cancelled')::int as people,
        count(*) filter (where r.outcome is null)::int as "inFlight"
      from run_people p join run_rows r using (run_id, row_number)
      where p.run_id = ${runId} and p.position >= ${(page - 1) * peoplePerPage} and p.position < ${page * peoplePerPage}
    `.execute(transaction);
    return left.rows[0]!;
  });
}
