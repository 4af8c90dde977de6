import { sql, type Kysely, type Transaction } from 'kysely';
import { isOvertaken } from '../db/postgres-errors.ts';
import type { Tables } from '../db/schema.ts';

/**
 * Runs a transaction that writes about people, with the suppression list locked against changes: a person who is
 * suppressed or erased at the same time is not written again. The list is the first lock of the transaction: a change
 * of the list waits for all holders of this lock.
 *
 * Runs the transaction again if another one has overtaken it, or both have deadlocked: a transaction that decides about
 * contacts cannot lock all of them at its start, because one decision leads to the next.
 */
export async function writeAboutPeople<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (;;)
    try {
      return await database.transaction().execute(async (transaction) => {
        await sql`select lock_suppressions()`.execute(transaction);
        return work(transaction);
      });
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
}
