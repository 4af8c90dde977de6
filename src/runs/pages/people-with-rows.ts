import { sql, type RawBuilder } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../contract/batch-sizes.ts';
import type { BatchesOfRun } from '../../ledger/waiting-batches.ts';

/**
 * The row `r` of each person `p`. Each row is read by its key: PostgreSQL knows little of a run that has just been
 * staged, and in a join read every row of the run for each person.
 */
const theirRow = sql`
  cross join lateral (
    select * from run_rows r where r.run_id = p.run_id and r.row_number = p.row_number offset 0
  ) r`;

/** The people `p` of runs with their rows `r`, for conditions on `p`. */
export const peopleWithRows = sql`run_people p ${theirRow}`;

/**
 * The people `p` of batches. Each batch is a range of positions: for a list of positions, PostgreSQL 15 and 16 read all
 * people of the run, twelve times a call.
 */
export const peopleOfBatches = ({ runId, batches }: BatchesOfRun): RawBuilder<unknown> => sql`
  unnest(${batches}::integer[]) as b (batch)
  cross join lateral (
    select * from run_people
    where run_id = ${runId}
      and position >= (b.batch - 1) * ${peoplePerCall} and position < b.batch * ${peoplePerCall}
    offset 0
  ) p`;

/** The people `p` of batches with their rows `r`. */
export const peopleOfBatchesWithRows = (batches: BatchesOfRun): RawBuilder<unknown> =>
  sql`${peopleOfBatches(batches)} ${theirRow}`;

/** Condition: a person `p` of a run is on a page. @param page from 1 */
export function isOnPage(page: number): RawBuilder<boolean> {
  return sql`p.position >= ${(page - 1) * peoplePerPage} and p.position < ${page * peoplePerPage}`;
}
