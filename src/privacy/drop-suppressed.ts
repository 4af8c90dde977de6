import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { clearSuppressedRow, hasSuppressions, keysInLog, keysOfRows, listedRows } from './suppressions.ts';

/**
 * Gives rows of suppressed people the outcome `suppressed` and deletes their claims. Rows with an outcome stay.
 *
 * A person is suppressed if the list has a key of the row, or a key that an answer stated for the row's contact.
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
  const people = sql`
    select r.row_number, c.service, c.person_key
    from run_rows r
    join runs on runs.run_id = r.run_id
    join contacts c on c.source = coalesce(runs.source, 'generic') and c.contact_id = r.contact_id
    where r.run_id = ${runId} and r.row_number in (${rowNumbers})`;
  const keys = sql`${keysOfRows(runId, rowNumbers)} union all ${keysInLog(sql<string>`p.service`, people)}`;
  const dropped = await sql`
    with listed as (${listedRows(keys)}),
    unclaimed as (
      delete from claims c using listed l where c.run_id = ${runId} and c.row_number = l.row_number
    )
    update run_rows r
    set outcome = 'suppressed',
      reason = 'on the suppression list since the plan was made, or under a key that an answer stated',
      ${clearSuppressedRow}
    from listed l
    where r.run_id = ${runId} and r.row_number = l.row_number and r.outcome is null
  `.execute(database);
  return Number(dropped.numAffectedRows ?? 0n);
}
