import { sql, type Kysely } from 'kysely';
import type { RateLimit } from '../../domain/rates/rate-limit.ts';
import type { RunRecord } from '../../runs/runs.ts';
import { rowCount } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import type { Calls, CallWindow } from '../report-types.ts';

const bucketSizes = [1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800];
/** Maximum number of bars that a page can show. */
const mostBuckets = 60;

interface Span {
  readonly runId: string;
  readonly service: string;
  /** Text of the database, in microseconds. */
  readonly first: string;
  readonly last: string;
  readonly bucketSeconds: number;
}

/**
 * Reads a run's calls over time, and the usage of the rate limits, which all runs at one service share. A
 * call counts from its admission; the service receives it slightly later.
 */
export async function readCalls(
  database: Kysely<Tables>,
  run: RunRecord,
  limits: readonly RateLimit[],
): Promise<Calls> {
  const statuses = await database
    .selectFrom('attempts')
    .select(['status', rowCount.as('calls')])
    .where('run_id', '=', run.runId)
    .groupBy('status')
    .orderBy('status')
    .execute();
  const byStatus = Object.fromEntries(statuses.map(({ status, calls }) => [status, calls]));
  const ends = await sql<{ first: string | null; last: string | null; firstAt: Date; lastAt: Date }>`
    select min(admitted_at)::text as first, max(admitted_at)::text as last,
      min(admitted_at) as "firstAt", max(admitted_at) as "lastAt"
    from attempts
    where run_id = ${run.runId} and status <> 'released'
  `.execute(database);
  const { first, last, firstAt, lastAt } = ends.rows[0]!;
  if (first === null || last === null)
    return {
      by_status: byStatus,
      first_at: null,
      last_at: null,
      bucket_seconds: 1,
      buckets: [],
      windows: [],
    };
  const bucketSeconds = bucketSizeFor((lastAt.getTime() - firstAt.getTime()) / 1_000);
  const span: Span = { runId: run.runId, service: run.options.service, first, last, bucketSeconds };
  const windows: CallWindow[] = [];
  for (const limit of limits) windows.push(await readWindow(database, span, limit));
  return {
    by_status: byStatus,
    first_at: firstAt.toISOString(),
    last_at: lastAt.toISOString(),
    bucket_seconds: bucketSeconds,
    buckets: await readBuckets(database, span),
    windows,
  };
}

/** The smallest bucket, in seconds, with which a time span fits on a page. */
export function bucketSizeFor(seconds: number): number {
  const size = bucketSizes.find((each) => seconds / each < mostBuckets);
  return size ?? Math.ceil(seconds / mostBuckets / 604_800) * 604_800;
}

async function readBuckets(database: Kysely<Tables>, span: Span): Promise<Calls['buckets']> {
  const counted = await sql<{ at: Date; this_run: number; other_runs: number }>`
    select ${bucket(span)} as at, (count(*) filter (where own))::int as this_run,
      (count(*) filter (where not own))::int as other_runs
    from (${events(span, 0)}) event
    group by 1
    order by 1
  `.execute(database);
  return counted.rows.map(({ at, ...calls }) => ({ at: at.toISOString(), ...calls }));
}

/**
 * The maximum of the trailing window in each bucket. Measured at each call and at the bucket's beginning,
 * because between calls a window only loses calls.
 */
async function readWindow(database: Kysely<Tables>, span: Span, limit: RateLimit): Promise<CallWindow> {
  const counted = await sql<{ bucket: Date; calls: number }>`
    select ${bucket(span)} as bucket, max(held)::int as calls
    from (
      select at, count(own) over (order by at range between
        make_interval(secs => ${limit.seconds}) - interval '1 microsecond' preceding and current row) as held
      from (${events(span, limit.seconds)}) event
    ) trailing_count
    where at >= ${span.first}::timestamptz
    group by 1
    order by 1
  `.execute(database);
  const trailing = counted.rows.map(({ calls }) => calls);
  return { limit: limit.calls, seconds: limit.seconds, peak: Math.max(0, ...trailing), trailing };
}

/**
 * Calls at the service during the run and some seconds before, and the beginnings of the buckets, whose `own`
 * is null.
 */
function events({ runId, service, first, last, bucketSeconds }: Span, secondsBefore: number) {
  return sql`
    select a.admitted_at as at, a.run_id = ${runId} as own
    from attempts a
    join runs r using (run_id)
    where a.status <> 'released'
      and r.options ->> 'service' = ${service}
      and a.admitted_at <= ${last}::timestamptz
      and a.admitted_at >= ${first}::timestamptz - make_interval(secs => ${secondsBefore})
    union all
    select generate_series(${first}::timestamptz, ${last}::timestamptz, make_interval(secs => ${bucketSeconds})), null
  `;
}

function bucket({ first, bucketSeconds }: Span) {
  return sql`date_bin(make_interval(secs => ${bucketSeconds}), at, ${first}::timestamptz)`;
}
