import { sql, type Kysely } from 'kysely';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';

/** One rate window as the service tells of it. Null: unlimited; undefined: not said. */
export interface ReportedWindow {
  readonly seconds: number;
  readonly limit: number | null | undefined;
  readonly used: number | undefined;
  readonly left: number | null | undefined;
}

/** An endpoint of one service, whose calls that service counts together. */
export interface RateScope {
  /** As the runs name it: an address, or `sandbox`. */
  readonly service: string;
  /** Such as `people/bulk_match`. */
  readonly scope: string;
}

/** What an answer, or a refusal, says of the rate. */
export interface RateReport {
  readonly rateLimits: readonly ReportedWindow[];
  readonly retryAfterSeconds?: number | undefined;
}

/** PostgreSQL's largest integer: a window without a limit needs no rule of its own. */
const unlimited = 2_147_483_647;
/** A day's window is asked about again every hour: its end is not known, and may be near. */
const longestBeliefSeconds = 3_600;
/** Calls in flight come back within about this time, and say what is left then. */
const whileInFlightMilliseconds = 250;

/**
 * Keeps what the service said of its windows: the fewest calls left since the window was first heard of, for as long as
 * that window can last. It is believed where it is less than our own count leaves free: other programs use the same
 * quota, and a plan can be smaller than RATE_LIMITS.
 *
 * Answers overtake one another, and no header says when a window ends. Two facts put them in order. Within a window the
 * number left only falls, so the lowest is the newest. And a call that began after the lowest was said, and is told of
 * more, was counted in a window that has opened since.
 *
 * @param callId whose answer it is; undefined for usage statistics, which cannot be put in order and only lower what is
 *   known
 */
export async function recordReports(
  database: Kysely<Tables>,
  { service, scope }: RateScope,
  callId: string | undefined,
  { rateLimits, retryAfterSeconds }: RateReport,
): Promise<void> {
  const reports = rateLimits.flatMap((window) => {
    const left = leftOf(window);
    if (left === undefined) return [];
    // The first request opens a window: one of which nothing is used is not open yet, and no time of it has passed.
    const isOpen = left < Math.min(window.limit ?? unlimited, unlimited);
    const belief = isOpen ? Math.min(window.seconds, longestBeliefSeconds) : 0;
    // A refusal names the end of the window that is used up.
    const isEndNamed = left === 0 && retryAfterSeconds !== undefined && retryAfterSeconds >= 1;
    return [
      {
        seconds: window.seconds,
        // A limit of 0 would never be asked about again.
        limit: Math.max(1, Math.min(window.limit ?? unlimited, unlimited)),
        left: Math.min(left, unlimited),
        belief: isEndNamed ? Math.min(retryAfterSeconds, belief) : belief,
      },
    ];
  });
  if (reports.length === 0) return;
  const isNewWindow = sql`(
    r.believed_until <= clock_timestamp() or (excluded.calls_left > r.calls_left
      and r.said_at < (select started_at from rate_calls where call_id = ${callId ?? null}))
  )`;
  await sql`
    insert into rate_reports as r (service, scope, seconds, calls_limit, calls_left, said_at, believed_until)
    select ${service}, ${scope}, seconds, calls_limit, calls_left, clock_timestamp(), clock_timestamp() + make_interval(secs => belief)
    from unnest(${reports.map((each) => each.seconds)}::int[], ${reports.map((each) => each.limit)}::int[],
      ${reports.map((each) => each.left)}::int[], ${reports.map((each) => each.belief)}::float8[])
      as said (seconds, calls_limit, calls_left, belief)
    order by seconds
    on conflict (service, scope, seconds) do update set
      calls_limit = excluded.calls_limit,
      calls_left = case when ${isNewWindow} then excluded.calls_left else least(r.calls_left, excluded.calls_left) end,
      said_at = case when ${isNewWindow} or excluded.calls_left < r.calls_left then excluded.said_at else r.said_at end,
      believed_until = case when ${isNewWindow} then excluded.believed_until
        else least(r.believed_until, excluded.believed_until) end
  `.execute(database);
}

/** A window of the service with the calls that are free in it now; where none are, for how long at least. */
export type ServiceWindow = RateLimit & { readonly free: number; readonly milliseconds: number };

/**
 * The windows that the service has told of. What is left is less those of our calls that are in flight: the service may
 * not have counted them yet when it said so. A window whose time is over holds its limit again.
 */
export async function readReports(
  database: Kysely<Tables>,
  { service, scope }: RateScope,
): Promise<readonly ServiceWindow[]> {
  const windows = await sql<ServiceWindow>`
    select calls_limit as calls, seconds, greatest(0, left_now - in_flight)::int as free,
      case when left_now > 0 then ${whileInFlightMilliseconds}
        else extract(epoch from believed_until - clock_timestamp()) * 1000 end::float8 as milliseconds
    from (
      select *, case when believed_until > clock_timestamp() then calls_left else calls_limit end as left_now,
        (select count(*) from rate_calls c where c.scope = r.scope and c.counted_until > clock_timestamp()) as in_flight
      from rate_reports r where service = ${service} and scope = ${scope}
    ) as known
    where left_now < ${unlimited}
    order by seconds
  `.execute(database);
  return windows.rows;
}

function leftOf({ limit, used, left }: ReportedWindow): number | undefined {
  if (left === null || (left === undefined && limit === null)) return unlimited;
  if (left !== undefined) return left;
  return typeof limit === 'number' && used !== undefined ? Math.max(0, limit - used) : undefined;
}
