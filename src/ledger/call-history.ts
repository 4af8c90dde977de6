import { sql } from 'kysely';
import { parseCredits, type Credits } from '../domain/money/decimal.ts';
import type { AskedExtras } from '../domain/late-results/awaited-results.ts';
import type { Warehouse } from '../db/database.ts';

/** So many of the latest calls speak for the next ones. */
const callsThatCount = 200;

/**
 * What recent calls cost and took, for the estimates of a plan: of runs that asked the same service for the same,
 * because phones and waterfalls have prices of their own, and whom the sandbox finds says nothing of a real service.
 *
 * @returns undefined figures while there are no calls to learn from
 */
export async function readCallHistory(
  warehouse: Warehouse,
  asked: AskedExtras & { readonly service: string },
): Promise<{ creditsPerPerson: Credits | undefined; secondsPerCall: number | undefined }> {
  const result = await sql<{ credits: string | null; seconds: number | null }>`
    select round(sum(credits_settled) / sum(people), 6)::text as credits,
      (avg(extract(epoch from answered_at - admitted_at)) filter (where answered_at is not null))::float8 as seconds
    from (
      select a.* from attempts a join runs r using (run_id)
      where a.status = 'settled' and r.options -> 'reveal' = ${JSON.stringify(asked.reveal)}::jsonb
        and r.options ->> 'service' = ${asked.service} and r.options -> 'waterfall' = ${JSON.stringify(asked.waterfall)}::jsonb
      order by a.admitted_at desc limit ${callsThatCount}
    ) latest
  `.execute(warehouse.database);
  const { credits, seconds } = result.rows[0]!;
  return {
    creditsPerPerson: credits === null ? undefined : parseCredits(credits),
    secondsPerCall: seconds ?? undefined,
  };
}
