import { sql } from 'kysely';
import { parseCredits, type Credits } from '../domain/decimal.ts';
import type { Warehouse } from './database.ts';

/** So many of the latest calls speak for the next ones. */
const callsThatCount = 200;

/**
 * What recent calls cost and took, for the estimates of a plan.
 *
 * @returns undefined figures while there are no calls to learn from
 */
export async function readCallHistory(
  warehouse: Warehouse,
): Promise<{ creditsPerPerson: Credits | undefined; secondsPerCall: number | undefined }> {
  const result = await sql<{ credits: string | null; seconds: number | null }>`
    select round(sum(credits_settled) / sum(people), 6)::text as credits,
      (avg(extract(epoch from answered_at - admitted_at)) filter (where answered_at is not null))::float8 as seconds
    from (
      select * from attempts where status = 'settled' order by admitted_at desc limit ${callsThatCount}
    ) latest
  `.execute(warehouse.database);
  const { credits, seconds } = result.rows[0]!;
  return {
    creditsPerPerson: credits === null ? undefined : parseCredits(credits),
    secondsPerCall: seconds ?? undefined,
  };
}
