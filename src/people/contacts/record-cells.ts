import { sql, type Transaction } from 'kysely';
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
