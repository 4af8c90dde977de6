import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { LostContacts } from './report-types.ts';

/** Counts the rows whose contact has lost the person whom it had by the row, by reason. */
export async function readLostContacts(
  database: Kysely<Tables>,
  runId: string,
): Promise<readonly LostContacts[]> {
  const { rows } = await sql<LostContacts>`
    select lost_reason as reason, count(*)::int as rows
    from row_results
    where run_id = ${runId} and lost_reason is not null
    group by lost_reason
    order by count(*) desc, lost_reason
  `.execute(database);
  return rows;
}
