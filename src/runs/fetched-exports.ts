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
  const fetched = await warehouse.database
    .selectFrom('fetched_exports')
    .select('sha256')
    .where('address', '=', address)
    .where('etag', '=', etag)
    .executeTakeFirst();
  return fetched?.sha256;
}

/** Records the content hash of a version that was fetched from an address. */
export async function recordContent(
  warehouse: Warehouse,
  address: string,
  version: { readonly etag: string; readonly sha256: string },
): Promise<void> {
  await warehouse.database
    .insertInto('fetched_exports')
    .values({ address, ...version })
    .onConflict((conflict) => conflict.column('address').doUpdateSet(version))
    .execute();
}
