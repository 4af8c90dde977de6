import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './schema.ts';

/** Does work in a transaction that is rolled back afterwards: shows what the work would do. */
export async function rolledBack<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const transaction = await database.startTransaction().execute();
  try {
    return await work(transaction);
  } finally {
    await transaction.rollback().execute();
  }
}
