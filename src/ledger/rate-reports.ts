import { sql, type Kysely, type RawBuilder } from 'kysely';
import {
  callsLeft,
  trustedSeconds,
  unlimitedCalls,
  type RateLimit,
  type ReportedWindow,
} from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';

/** An endpoint of one service. The service counts its calls together. */
export interface RateScope {
  /** As in the options of runs: an address, or `sandbox`. */
  readonly service: string;
  /** Such as `people/bulk_match`. */
  readonly scope: string;
}

/** What an answer or a refusal reports about the rate. */
export interface RateReport {
  readonly rateLimits: readonly ReportedWindow[];
  readonly retryAfterSeconds?: number | undefined;
}

/** The request that a report answers: a call with a slot, or a request without one that began at a time. */
type ReportingRequest =
  | { readonly callId: string }
  /** By the clock of the database (`readDatabaseTime`). */
  | { readonly beganAt: string };

/**
 * Stores the service's reports about its windows: the fewest calls left, until the window must have ended. The product
 * obeys a report that is lower than its own count, because other programs use the same quota and the plan can be
 * smaller than RATE_LIMITS.
 *
 * Answers overtake each other, and no header names the end of a window. Two rules order the reports. Within a window
 * the number of calls left only falls, so the lowest report is the newest. A request that began after the lowest
 * report, and reports more, was counted in a new window.
 */
export async function recordReports(
  database: Kysely<Tables>,
  of: RateScope,
  request: ReportingRequest,
  report: RateReport,
): Promise<void> {
  if (report.rateLimits.length > 0) await storeReports(of, request, report).execute(database);
}

/** Reads the clock of the database, as text because a Date has no microseconds. */
export async function readDatabaseTime(database: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(database);
  return rows[0]!.at;
}

/** The statement of `recordReports`. It stores a row for each window whose calls left are known. */
export function storeReports(
  { service, scope }: RateScope,
  request: ReportingRequest,
  { rateLimits, retryAfterSeconds }: RateReport,
): RawBuilder<unknown> {
  const reports = rateLimits.flatMap((window) => {
    const left = callsLeft(window);
    if (left === undefined) return [];
    // The first request opens a window. A window without use is not open, so its time has not begun.
    const isOpen = left < Math.min(window.limit ?? unlimitedCalls, unlimitedCalls);
    const endsWithinSeconds = isOpen ? window.seconds : 0;
    // A refusal states the end of the exhausted window.
    const isEndNamed = left === 0 && retryAfterSeconds !== undefined && retryAfterSeconds >= 1;
    return [
      {
        seconds: window.seconds,
        // With a limit of 0 no call would ever bring a new report.
        limit: Math.max(1, Math.min(window.limit ?? unlimitedCalls, unlimitedCalls)),
        left: Math.min(left, unlimitedCalls),
        endsWithinSeconds: isEndNamed ? Math.min(retryAfterSeconds, endsWithinSeconds) : endsWithinSeconds,
      },
    ];
  });
  // Renewed by the same figure. A younger report keeps its time, by which later requests show a new window.
  const isOld = sql`r.said_at <= clock_timestamp() - make_interval(secs => ${trustedSeconds})`;
  const beganAt =
    'callId' in request
      ? sql`(select started_at from rate_calls where call_id = ${request.callId})`
      : sql`${request.beganAt}::timestamptz`;
  const isNewWindow = sql`(
    r.believed_until <= clock_timestamp() or (excluded.calls_left > r.calls_left and r.said_at < ${beganAt})
  )`;
  return sql`
    insert into rate_reports as r (service, scope, seconds, calls_limit, calls_left, said_at, believed_until)
    select ${service}, ${scope}, seconds, calls_limit, calls_left, clock_timestamp(),
      clock_timestamp() + make_interval(secs => ends_within)
    from unnest(${reports.map((each) => each.seconds)}::int[], ${reports.map((each) => each.limit)}::int[],
      ${reports.map((each) => each.left)}::int[], ${reports.map((each) => each.endsWithinSeconds)}::float8[])
      as said (seconds, calls_limit, calls_left, ends_within)
    order by seconds
    on conflict (service, scope, seconds) do update set
      calls_limit = excluded.calls_limit,
      calls_left = case when ${isNewWindow} then excluded.calls_left else least(r.calls_left, excluded.calls_left) end,
      said_at = case
        when ${isNewWindow} or excluded.calls_left < r.calls_left or (excluded.calls_left = r.calls_left and ${isOld})
        then excluded.said_at
        else r.said_at
      end,
      believed_until = case when ${isNewWindow} then excluded.believed_until
        else least(r.believed_until, excluded.believed_until) end
  `;
}

/** A window of the service with its free calls; if none is free, the shortest wait in milliseconds. */
export type ServiceWindow = RateLimit & { readonly free: number; readonly milliseconds: number };

/**
 * Reads the windows that the service has reported. Calls in flight reduce the free calls, because the service may not
 * have counted them when it reported. An expired report counts as an empty window.
 */
export async function readReports(
  database: Kysely<Tables>,
  { service, scope }: RateScope,
): Promise<readonly ServiceWindow[]> {
  const windows = await sql<ServiceWindow>`
    select calls, seconds, free, milliseconds from service_windows(${service}, ${scope})
  `.execute(database);
  return windows.rows;
}
