import { sql, type RawBuilder, type Transaction } from 'kysely';
import { identityCells } from '../db/expressions.ts';
import { placesOfRows } from '../db/rows-of-run.ts';
import type { Tables } from '../db/schema.ts';
import { identityColumns } from '../domain/identity/identity-columns.ts';
import { sharesMatchKey } from '../keys/shares-match-key.ts';

const clearedCells = sql`
  raw = '[]', ${sql.join(identityColumns.map((column) => sql`${sql.ref(column)} = null`))},
  keys = '{}', match_keys = '{}'
`;

/** Assignments that clear the personal data of a staged row. */
export const clearPersonalData = sql`${clearedCells}, identity_hash = null`;

/**
 * The same of a suppressed row `r`, of which no decision is needed: its hash shows whether the contact's record has
 * changed. A row without cells, such as a row that retention has cleared, gets no hash: the hash of nothing would
 * differ from every record.
 */
export const clearSuppressedRow = sql`${clearedCells}, filled = false, is_contested = false, identity_hash = case
  when num_nonnulls(${identityCells('r')}) > 0 then ${identityHash('r')}
end`;

/**
 * Clears the personal data of rows that an answer has shown to be suppressed people. Duplicates that share a key with
 * such a row are suppressed as well.
 */
export async function clearSuppressedRows(
  transaction: Transaction<Tables>,
  runId: string,
  rowNumbers: readonly number[],
): Promise<void> {
  const listed = sql`
    select row_number, keys, match_keys from run_rows
    where run_id = ${runId} and row_number = any(${rowNumbers}::integer[]) and outcome = 'suppressed'`;
  const duplicates = await sql<{ row_number: number }>`
    update run_rows r
    set outcome = 'suppressed', reason = 'the same person is on the suppression list by row ' || l.row_number,
      ${clearSuppressedRow}
    from (${listed}) l
    where r.run_id = ${runId} and r.outcome = 'duplicate' and r.keys && l.keys
      and ${sharesMatchKey('r', sql`select unnest(match_keys) from (${listed}) listed`)}
    returning r.row_number
  `.execute(transaction);
  await sql`
    update run_rows r set ${clearSuppressedRow}
    where r.run_id = ${runId} and r.row_number = any(${rowNumbers}::integer[]) and r.outcome = 'suppressed'
      and r.keys <> '{}'
  `.execute(transaction);
  const cleared = duplicates.rows.map((row) => row.row_number);
  const suppressed = sql`select unnest(${[...rowNumbers, ...cleared]}::int[])`;
  await clearRecordedCells(runId, suppressed).execute(transaction);
}

/** Expression: the hash of the identity columns. @param alias of a row or of a contact's record */
export function identityHash(alias: string): RawBuilder<Buffer> {
  return sql`sha256(convert_to(row(${identityCells(alias)})::text, 'UTF8'))`;
}

/**
 * Statement that clears the recorded cells of rows that have become suppressed. A contact that keeps its person keeps
 * its cells. The record stays, so that no earlier one counts as the newest.
 *
 * @param rowNumbers query of row numbers of the run
 */
export function clearRecordedCells(runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    update contact_records k
    set keys = '{}', ${sql.join(identityColumns.map((column) => sql`${sql.ref(column)} = null`))}
    where k.ctid = any(${placesOfRows('contact_records', runId, rowNumbers)})
      and not exists (select from contacts c where c.source = k.source and c.contact_id = k.contact_id)`;
}
