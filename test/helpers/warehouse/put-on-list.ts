import type { Warehouse } from '../../../src/db/database.ts';
import { suppress } from '../../../src/suppression/suppression-list.ts';

/** Puts identity keys on the suppression list, as `enrich suppress add` does. */
export async function putOnList({ database }: Warehouse, ...keys: readonly string[]): Promise<void> {
  const note = { by: 'test', reason: undefined };
  await database.transaction().execute((transaction) => suppress(transaction, keys, note));
}
