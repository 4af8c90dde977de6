import { sql, type Transaction } from 'kysely';
import { rowCount } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import { counted } from '../../domain/text/counted.ts';
import { fieldsOfHeader } from '../../ingest/columns/mapping/recorded-mapping.ts';
import type { ReadColumns } from '../../ingest/columns/mapping/chosen-column.ts';
import { addWarning } from '../runs.ts';

/** Warns of rows without an id in a file with a column of record ids: files for importers leave them out. */
export async function warnOfMissingIds(
  transaction: Transaction<Tables>,
  runId: string,
  { header, mapping }: ReadColumns,
): Promise<void> {
  if (!fieldsOfHeader(header, mapping).includes('contact_id')) return;
  const { rows } = await transaction
    .selectFrom('run_rows')
    .select(rowCount.as('rows'))
    .where('run_id', '=', runId)
    .where(sql<boolean>`outcome is distinct from 'malformed'`)
    .where(sql<boolean>`(starts_with(contact_id, 'key:') or starts_with(contact_id, 'row:'))`)
    .executeTakeFirstOrThrow();
  if (rows === 0) return;
  await addWarning(
    transaction,
    runId,
    `${counted(rows, 'row')} without a record id: files for the CRM's importer leave ` +
      `${rows === 1 ? 'this contact' : 'these contacts'} out, and a later export with the id makes a second contact`,
  );
}
