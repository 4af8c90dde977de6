import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';

/**
 * Deletes the claims of a call that its end leaves: later runs may ask for its people. Two kinds of claims stay: of
 * people for whom this run calls again, and of people with another open call.
 */
export async function releaseClaims(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  await sql`
    delete from claims c using attempt_people p
    where p.attempt_id = ${attemptId} and c.run_id = p.run_id and c.row_number = p.row_number
      and not exists (select 1 from run_rows r
        where r.run_id = p.run_id and r.row_number = p.row_number and r.outcome is null)
      and not exists (select 1 from attempt_people o join attempts a using (attempt_id)
        where o.run_id = p.run_id and o.row_number = p.row_number and o.attempt_id <> p.attempt_id
          and a.status in ('admitted', 'unknown') and a.answered_at is null)
  `.execute(transaction);
}
