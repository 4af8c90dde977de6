import { sql, type RawBuilder } from 'kysely';

/**
 * Expression: the places (`ctid`) of a run's rows, claims or recorded cells with these row numbers. Each is looked up
 * by its whole key: by a plan from an empty warehouse, PostgreSQL read all rows of the run to find ten.
 *
 * PostgreSQL's minor release decides whether an UPDATE by place skips a row that another transaction has changed
 * meanwhile. Both are right here: such a change gives the row an outcome, which stays, or removes the cells.
 *
 * @param rowNumbers query of one column
 */
export function placesOfRows(
  table: 'run_rows' | 'claims' | 'contact_records',
  runId: string,
  rowNumbers: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`array(
    select found.ctid
    from (select distinct row_number from (${rowNumbers}) as given (row_number)) n
    cross join lateral (
      select e.ctid from ${sql.table(table)} e
      where e.run_id = ${runId} and e.row_number = n.row_number
      offset 0
    ) found)`;
}
