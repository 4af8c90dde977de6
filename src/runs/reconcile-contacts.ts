import { sql, type Kysely, type RawBuilder } from 'kysely';
import { emailKeysOfHash } from '../keys/key-lookups.ts';
import { digest, withDigestLocked } from '../people/digest.ts';
import { recordContacts } from '../people/record-contacts.ts';
import { dropSuppressedWithoutCall } from '../suppression/drop-suppressed.ts';
import { withSuppressionsLocked } from '../suppression/suppression-list.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { getRun } from './runs.ts';

const rowsPerBatch = 5_000;

/**
 * Records the contacts of an export and waits for the digest. Then every contact has its person, whoever paid for it.
 *
 * @param signal aborts between two batches
 * @returns how many contacts got the data of a known person, and how many lost their person
 */
export async function reconcileContacts(warehouse: Warehouse, runId: string, signal: AbortSignal) {
  const { rowsStaged } = await getRun(warehouse, runId);
  for (let after = 0; after < rowsStaged; after += rowsPerBatch) {
    signal.throwIfAborted();
    const last = after + rowsPerBatch;
    await withSuppressionsLocked(warehouse.database, (transaction) =>
      dropSuppressedWithoutCall(transaction, runId, { first: after + 1, last }),
    );
    await withDigestLocked(warehouse.database, (transaction) =>
      recordContacts(transaction, runId, sql<boolean>`(r.row_number > ${after} and r.row_number <= ${last})`),
    );
  }
  const { filled, withdrawn } = await digest(warehouse, signal);
  signal.throwIfAborted();
  return { filled, withdrawn };
}

/**
 * The maximum number of contacts that a planned run can fill without a call of their own: their person is already
 * known, or the run makes a call for another row with the same key.
 */
export async function countFillable(
  database: Kysely<Tables>,
  { runId, source, service }: { readonly runId: string; readonly source: string; readonly service: string },
): Promise<number> {
  const hasPerson = sql`
    select from contacts c where c.source = ${source} and c.contact_id = r.contact_id`;
  const { rows } = await sql<{ fillable: number }>`
    select count(distinct r.contact_id)::int as fillable
    from run_rows r
    where r.run_id = ${runId}
      and r.outcome in ('duplicate', 'fresh')
      and r.record_row is null
      and not ${isAny(hasPerson)}
      and (r.outcome = 'duplicate' or exists (
        select from unnest(r.keys) as identity_key
        where ${isAny(sql`
            select from lookup_history h
            where h.key_hash = key_hash(identity_key, ${service}) and h.field_group = 'profile' and h.found`)}
          or starts_with(identity_key, 'hash:')
            and ${isAny(emailKeysOfHash(service, sql`identity_key`))}))
  `.execute(database);
  return rows[0]!.fillable;
}

/**
 * SQL condition: a query returns rows. It avoids `exists`, for which PostgreSQL expected an early hit, read all 12
 * million observations for each key, and compared each row with each contact.
 */
function isAny(query: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(select count(*) from (${query}) found) > 0`;
}
