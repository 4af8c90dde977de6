import { sql } from 'kysely';
import { parseCredits, type Credits } from '../domain/money/decimal.ts';
import { lateKindsOf, type AskedExtras } from '../domain/late-results/awaited-results.ts';
import type { Warehouse } from '../db/database.ts';

/** How many of the latest calls the estimate uses. */
const callsThatCount = 200;

/**
 * Reads what recent calls cost and how long they took, for the estimates of a plan. Only calls to the same service with
 * the same options count, because phones and waterfalls have prices of their own.
 *
 * @returns undefined figures if there was no such call
 */
export async function readCallHistory(
  warehouse: Warehouse,
  asked: AskedExtras & { readonly service: string },
): Promise<{ creditsPerPerson: Credits | undefined; secondsPerCall: number | undefined }> {
  // A call that left out what its run asked for, because that was fresh, has no address for late results.
  const isForAll = lateKindsOf(asked).length > 0 ? sql`a.token_hash is not null` : sql`true`;
  const result = await sql<{ credits: string | null; seconds: number | null }>`
    select round(sum(credits_settled) / sum(people), 6)::text as credits,
      (avg(extract(epoch from answered_at - admitted_at)) filter (where answered_at is not null))::float8 as seconds
    from (
      select a.*
      from attempts a
      join runs r using (run_id)
      where a.status = 'settled'
        and ${isForAll}
        and r.options ->> 'service' = ${asked.service}
        and r.options -> 'reveal' = ${JSON.stringify(asked.reveal)}::jsonb
        and r.options -> 'waterfall' = ${JSON.stringify(asked.waterfall)}::jsonb
      order by a.admitted_at desc
      limit ${callsThatCount}
    ) latest
  `.execute(warehouse.database);
  const { credits, seconds } = result.rows[0]!;
  return {
    creditsPerPerson: credits === null ? undefined : parseCredits(credits),
    secondsPerCall: seconds ?? undefined,
  };
}
