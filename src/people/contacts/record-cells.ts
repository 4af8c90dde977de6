import { sql, type RawBuilder, type Transaction } from 'kysely';
import { identityColumns } from '../../domain/identity/identity-columns.ts';
import type { Tables } from '../../db/schema.ts';

/** Records the newest cells of contacts that keep their person: the next export is compared with them. */
export async function recordCells(
  transaction: Transaction<Tables>,
  { runId, source }: { readonly runId: string; readonly source: string },
  rowNumbers: readonly number[],
): Promise<void> {
  if (rowNumbers.length === 0) return;
  const columns = sql.raw(identityColumns.join(', '));
  await sql`
    insert into contact_records (source, contact_id, run_id, row_number, keys, ${columns})
    select ${source}, contact_id, run_id, row_number, keys, ${columns}
    from run_rows
    where run_id = ${runId} and row_number = any(${rowNumbers}::int[])
    on conflict do nothing
  `.execute(transaction);
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
    where run_id = ${runId}
      and row_number = any(array(${rowNumbers}))
      and not exists (select from contacts c where c.source = k.source and c.contact_id = k.contact_id)`;
}
