import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';

/**
 * The content hash of an export, if this version of it was fetched from the address before.
 *
 * @param address without secrets
 */
export async function recallContent(
  warehouse: Warehouse,
  address: string,
  etag: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ sha256: string }>`
    select sha256 from fetched_exports where address = ${address} and etag = ${etag}
  `.execute(warehouse.database);
  return rows[0]?.sha256;
}

/** The version that was last fetched from an address. */
export async function recallEtag(warehouse: Warehouse, address: string): Promise<string | undefined> {
  const { rows } = await sql<{ etag: string }>`
    select etag from fetched_exports where address = ${address}
  `.execute(warehouse.database);
  return rows[0]?.etag;
}

/** Records the content hash of a version that was fetched from an address. */
export async function recordContent(
  warehouse: Warehouse,
  fetched: { readonly address: string; readonly etag: string; readonly sha256: string },
): Promise<void> {
  await sql`
    insert into fetched_exports (address, etag, sha256)
    values (${fetched.address}, ${fetched.etag}, ${fetched.sha256})
    on conflict (address) do update
    set etag = excluded.etag, sha256 = excluded.sha256, fetched_at = clock_timestamp()
  `.execute(warehouse.database);
}
