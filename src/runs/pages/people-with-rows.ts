import { sql, type RawBuilder } from 'kysely';
import { peoplePerPage } from '../../contract/batch-sizes.ts';

/**
 * The people `p` of runs with their rows `r`, for conditions on `p`. Each row is read by its key: PostgreSQL knows
 * little of a run that has just been staged, and in a join read every row of the run for each person.
 */
export const peopleWithRows = sql`
  run_people p
  cross join lateral (
    select * from run_rows r where r.run_id = p.run_id and r.row_number = p.row_number offset 0
  ) r`;

/** Condition: a person `p` of a run is on a page. @param page from 1 */
export function isOnPage(page: number): RawBuilder<boolean> {
  return sql`p.position >= ${(page - 1) * peoplePerPage} and p.position < ${page * peoplePerPage}`;
}
