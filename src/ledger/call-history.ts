import { sql } from 'kysely';
import { peoplePerCall } from '../domain/runs/batching.ts';
import type { PeopleAsked } from '../domain/money/credit-rules.ts';
import { storedCredits, type Credits } from '../domain/money/decimal.ts';
import { lateKindsOf, type AskedExtras } from '../domain/late-results/delivery-kinds.ts';
import type { Warehouse } from '../db/database.ts';

/**
 * The estimate uses so many of the latest calls, of so many runs with such calls, among so many of the newest runs.
 * Without the last bound, a search without success read all runs: 8 ms of a night's plan after a year.
 */
const callsThatCount = 200;
const runsThatCount = 50;
const newestRuns = 100;

/** What the latest answered and settled calls of the newest runs cost and took. */
export interface CallHistory {
  readonly calls: number;
  readonly perPerson: Credits;
  /** Standard deviation between calls, in credits per person; undefined for a single call. */
  readonly deviation: number | undefined;
  /** Average time between two answers of a run; undefined for single calls. */
  readonly secondsPerCall: number | undefined;
}

/**
 * Reads what calls with the same options for the same source to the same service cost and took, for the estimates of a
 * plan.
 *
 * @param people only calls of runs that asked mostly for such people count
 * @returns undefined without such calls
 */
export async function readCallHistory(
  warehouse: Warehouse,
  asked: AskedExtras & { readonly service: string },
  source: string,
  people: PeopleAsked,
): Promise<CallHistory | undefined> {
  const { service, reveal, waterfall } = asked;
  // A call can leave out what its run asks for, because that is fresh or its people opted out of calls. A call that
  // leaves out everything late has no address for late results, also after retention has removed the run's people.
  const isForAll =
    lateKindsOf(asked).length === 0
      ? sql`true`
      : sql`a.token_hash is not null and not exists (
          select from run_people p
          where p.run_id = a.run_id and p.position between (a.batch - 1) * ${peoplePerCall}
              and a.batch * ${peoplePerCall} - 1
            and p.left_out <> '{}'
        )`;
  // A price above the worst case is an error of the service: it has paused the run, and says nothing about later calls.
  const counts = sql`a.status = 'settled' and a.answered_at is not null
    and a.credits_settled <= a.credits_reserved and ${isForAll}`;
  const { rows } = await sql<{
    calls: number;
    credits: string | null;
    deviation: number | null;
    seconds: number | null;
  }>`
    select count(*)::int as calls,
      round(sum(credits_settled) / sum(people), 6)::text as credits,
      stddev_samp(credits_settled / people)::float8 as deviation,
      -- A longer gap is a wait: for a rate window, a budget or the operator.
      avg(extract(epoch from gap)) filter (where gap < interval '1 min')::float8 as seconds
    from (
      select a.credits_settled, a.people,
        a.answered_at - lag(a.answered_at) over (partition by a.run_id order by a.answered_at) as gap
      from (
        select like_this.run_id
        -- The limit keeps the order, so that the search ends with the last run that counts.
        from (
          select run_id from runs where status <> 'planned' order by created_at desc limit ${newestRuns}
        ) newest
        cross join lateral (
          select r.run_id
          from runs r
          where r.run_id = newest.run_id
            and r.options ->> 'service' = ${service}
            and r.options -> 'reveal' = ${JSON.stringify(reveal)}::jsonb
            and r.options -> 'waterfall' = ${JSON.stringify(waterfall)}::jsonb
            and (coalesce((r.plan ->> 'found_before')::int, 0) * 2 > (r.plan ->> 'people')::int) is
              ${people === 'found before' ? sql`true` : sql`not true`}
            and r.source = ${source}
            and exists (select from attempts a where a.run_id = r.run_id and ${counts})
          offset 0
        ) like_this
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
  const { calls, credits, deviation, seconds } = rows[0]!;
  if (credits === null) return undefined;
  return {
    calls,
    perPerson: storedCredits(credits),
    deviation: deviation ?? undefined,
    secondsPerCall: seconds ?? undefined,
  };
}
