import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { clearSuppressedRow, hasSuppressions, keysOfRows, listedRows } from './suppressions.ts';

/**
 * Gives rows of suppressed people the outcome `suppressed` and deletes their claims. Rows with an outcome stay.
 *
 * @param rowNumbers query of row numbers
 * @returns how many rows were dropped
 */
export async function dropSuppressed(
  database: Kysely<Tables>,
  runId: string,
  rowNumbers: RawBuilder<unknown>,
): Promise<number> {
  if (!(await hasSuppressions(database))) return 0;
  const dropped = await sql`
    with listed as (${listedRows(keysOfRows(runId, rowNumbers))}),
    unclaimed as (
      delete from claims c using listed l where c.run_id = ${runId} and c.row_number = l.row_number
    )
    update run_rows r
    set outcome = 'suppressed', reason = 'put on the suppression list since the plan was made', ${clearSuppressedRow}
    from listed l
    where r.run_id = ${runId} and r.row_number = l.row_number and r.outcome is null
  `.execute(database);
  return Number(dropped.numAffectedRows ?? 0n);
}
