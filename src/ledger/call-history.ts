import { sql } from 'kysely';
import { parseStoredCredits, type Credits } from '../domain/money/decimal.ts';
import { lateKindsRequestedBy, type RequestedExtras } from '../domain/late-results/delivery-kinds.ts';
import type { Warehouse } from '../db/database.ts';

/** Maximum numbers of calls, and of runs that the calls come from, in an estimate. */
const callsThatCount = 200;
const runsThatCount = 50;

/** Cost of the latest answered and settled calls of the newest runs. */
export interface CallHistory {
  readonly calls: number;
  readonly perPerson: Credits;
  /** Standard deviation between calls, in credits per person; undefined if there is only one call. */
  readonly deviation: number | undefined;
}

/** Reads the cost of earlier calls with the same options, source and service; undefined if there are none. */
export async function readCallHistory(
  warehouse: Warehouse,
  asked: RequestedExtras & { readonly service: string },
  source: string,
): Promise<CallHistory | undefined> {
  const { service, reveal, waterfall } = asked;
  // Calls without a webhook token requested no late results, so they are cheaper and do not count. Prices above the
  // worst case are errors of the service and do not count either.
  const counts = sql`a.status = 'settled' and a.answered_at is not null
    and a.credits_settled <= a.credits_reserved
    and (a.token_hash is not null or ${lateKindsRequestedBy(asked).length === 0})`;
  const { rows } = await sql<{
    calls: number;
    credits: string | null;
    deviation: number | null;
  }>`
    select count(*)::int as calls,
      round(sum(credits_settled) / sum(people), 6)::text as credits,
      stddev_samp(credits_settled / people)::float8 as deviation
    from (
      select a.credits_settled, a.people
      from (
        select run_id
        from runs
        where status <> 'planned'
          and source = ${source}
          and options ->> 'service' = ${service}
          and options -> 'reveal' = ${JSON.stringify(reveal)}::jsonb
          and options -> 'waterfall' = ${JSON.stringify(waterfall)}::jsonb
        order by created_at desc
        limit ${runsThatCount}
      ) r
      cross join lateral (
        select *
        from attempts a
        where a.run_id = r.run_id and ${counts}
        order by a.answered_at desc
        limit ${callsThatCount}
      ) a
      order by a.answered_at desc
      limit ${callsThatCount}
    ) latest
  `.execute(warehouse.database);
  const { calls, credits, deviation } = rows[0]!;
  if (credits === null) return undefined;
  return { calls, perPerson: parseStoredCredits(credits), deviation: deviation ?? undefined };
}
