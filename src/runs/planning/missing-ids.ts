import { sql, type RawBuilder, type Transaction } from 'kysely';
import { rowCount } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import { importers, type Importer } from '../../domain/crm/crm.ts';
import { counted } from '../../domain/text/counted.ts';
import { fieldsOfHeader } from '../../ingest/columns/fields.ts';
import type { ReadColumns } from '../../ingest/columns/chosen-column.ts';
import { addWarning } from '../runs.ts';

/**
 * Warns of contacts that files for an importer leave out: those without a record id of a contact of their CRM, and, in
 * a file of no known CRM that has a column of record ids, those without an id. Counts the rows of `plan_rows`.
 */
export async function warnOfMissingIds(
  transaction: Transaction<Tables>,
  runId: string,
  { source, header, mapping }: ReadColumns & { readonly source: string | null },
): Promise<void> {
  const importer = Object.values(importers).find((each) => each.source === source);
  if (importer === undefined && !fieldsOfHeader(header, mapping).includes('contact_id')) return;
  const { rows: found } = await sql<{ rows: number }>`
    select ${rowCount} as rows from plan_rows where ${lacksId(importer)}
  `.execute(transaction);
  const rows = found[0]?.rows ?? 0;
  if (rows === 0) return;
  const ofCrm = importer === undefined ? '' : ` of a ${importer.title} contact`;
  await addWarning(
    transaction,
    runId,
    `${counted(rows, 'row')} without a record id${ofCrm}: files for the CRM's importer leave ` +
      `${rows === 1 ? 'this contact' : 'these contacts'} out, and a later export with the id makes a second contact`,
  );
}

function lacksId(importer: Importer | undefined): RawBuilder<boolean> {
  return importer === undefined
    ? sql<boolean>`(starts_with(contact_id, 'key:') or starts_with(contact_id, 'row:'))`
    : sql<boolean>`contact_id !~ ${importer.idPattern.source}`;
}
