import { sql } from 'kysely';

/**
 * The people `p` of runs with their rows `r`, for conditions on `p`. Each row is read by its key: PostgreSQL knows
 * little of a run that has just been staged, and in a join read every row of the run for each person.
 */
export const peopleWithRows = sql`
  run_people p
  cross join lateral (
    select * from run_rows r where r.run_id = p.run_id and r.row_number = p.row_number offset 0
  ) r`;
