import { sql, type Kysely, type RawBuilder } from 'kysely';
import { formatDuration } from '../domain/text/duration.ts';
import { serviceCapabilities } from '../domain/service-capabilities.ts';
import {
  formatRateLimits,
  type RateLimit,
  callsLeft,
  rateReportTrustSeconds,
  unlimitedCalls,
  type ReportedWindow,
} from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';

/** Endpoints for which the service counts calls separately. */
export const {
  bulkMatch: bulkMatchScope,
  match: matchScope,
  poll: webhookResultScope,
} = serviceCapabilities.scopes;

/** Maximum time between the admission of a call and its start. The deadline of the call's slot includes it. */
export const admissionSlackSeconds = 5;

/** Why a call must wait for a slot in the rate windows, and how long. */
export interface SlotWait {
  /** Time until the next try. The database computes it, because the clocks of workers differ. */
  readonly milliseconds: number;
  readonly reason: string;
}

type SlotResult = { readonly kind: 'acquired' } | ({ readonly kind: 'full' } & SlotWait);

/** Why a call must wait for a slot, as returned by the SQL functions. */
export interface SqlSlotWait {
  readonly cause: 'paused' | 'probing' | 'window' | 'service' | 'preempted';
  readonly milliseconds: number;
  /** Reason of the pause; set if all calls are paused. */
  readonly reason?: string | null;
  /** Number of calls in the window; set if a window is full. */
  readonly calls?: number;
  readonly seconds?: number;
}

/**
 * Acquires a slot in every rate window until one window after the service may have counted the call. Counting from the
 * admission would allow a slow call and its successor within one window of the service.
 */
export async function acquireSlot(
  database: Kysely<Tables>,
  call: RateScope & { readonly callId: string; readonly deadlineSeconds: number },
  limits: readonly RateLimit[],
): Promise<SlotResult> {
  const { rows } = await sql<{ wait: SqlSlotWait | null }>`
    select acquire_slot(${call.service}, ${call.scope}, ${limitArrays(limits)}, ${call.callId},
      ${call.deadlineSeconds}::float8) as wait
  `.execute(database);
  const { wait } = rows[0]!;
  return wait === null ? { kind: 'acquired' } : { kind: 'full', ...toSlotWait(wait) };
}

/** Counts the calls that could be admitted now; Infinity without a limit. If there is none, `wait` is set. */
export async function countFreeSlots(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
): Promise<{ slots: number; wait: SlotWait | undefined }> {
  const { rows } = await sql<{ slots: number | null; wait: SqlSlotWait | null }>`
    select slots, wait from free_slots(${of.service}, ${of.scope}, ${limitArrays(limits)}, 0)
  `.execute(database);
  const { slots, wait } = rows[0]!;
  return {
    slots: slots ?? Number.POSITIVE_INFINITY,
    wait: slots === 0 && wait ? toSlotWait(wait) : undefined,
  };
}

export interface RateWindow extends RateLimit {
  /** `window`: a limit in the settings, counted by this product. `service`: a report of the service. */
  readonly cause: 'window' | 'service';
  readonly free: number;
}

/**
 * Returns the free slots of every rate window, from `limits` and from the service's reports, the shortest window
 * first. Calls in flight occupy slots. A window with an expired report counts as unused.
 */
export async function readRateWindows(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
): Promise<readonly RateWindow[]> {
  const { rows } = await sql<RateWindow>`
    select cause, calls, seconds, free from rate_windows(${of.service}, ${of.scope}, ${limitArrays(limits)})
  `.execute(database);
  return rows;
}

/** SQL arguments `limit_calls` and `limit_seconds` of functions. */
export const limitArrays = (limits: readonly RateLimit[]) =>
  sql`${limits.map(({ calls }) => calls)}::integer[], ${limits.map(({ seconds }) => seconds)}::integer[]`;

/**
 * Ends a call that was answered or abandoned. Its slot becomes free one window later. `refused`: the restriction stays
 * as it is.
 *
 * @param how `accepted`: calls follow without restriction, if this one began after the last refusal or failure.
 *   `failed`: one call at a time follows until the service accepts one, so that a lasting fault costs one call
 */
export async function endCall(
  database: Kysely<Tables>,
  of: RateScope,
  callId: string,
  how: 'accepted' | 'refused' | 'failed',
  report: RateReport = { rateLimits: [] },
): Promise<void> {
  // One statement stores the report and ends the call, so that the call always counts exactly once. Its commit does not
  // wait for the disk: after a crash the slot stays occupied until the call's deadline, and the next answer brings a
  // new report.
  await sql`
    with reported as (${storeReports(of, { callId }, report)}), ended as (
      update rate_calls
      set counted_until = case
        when end_number is null then least(counted_until, clock_timestamp())
        else counted_until
      end
      where call_id = ${callId} and set_config('synchronous_commit', 'off', true) = 'off'
      returning started_at
    )
    update rate_scopes set ${how === 'failed' ? probing : sql`refusals = 0, paused_until = null`} from ended
    where scope = ${of.scope} and ${
      how === 'accepted' ? sql`refusals > 0 and ended.started_at > refused_at` : how === 'failed'
    }
  `.execute(database);
}

/** SQL assignments to `rate_scopes` after which only one call at a time is made. */
const probing = sql`refusals = greatest(1, refusals), refused_at = clock_timestamp()`;

/**
 * Abandons a call without an answer. The service may still read the call from a buffer, so the call counts as arriving
 * up to `callSeconds` from now. Its slot becomes free one rate window after that.
 */
export async function abandonCall(
  database: Kysely<Tables>,
  callId: string,
  callSeconds: number,
): Promise<void> {
  await sql`
    with ended as (
      update rate_calls
      set abandoned = true, end_number = null,
        counted_until = greatest(counted_until, clock_timestamp() + make_interval(secs => ${callSeconds}))
      where call_id = ${callId}
      returning scope
    )
    update rate_scopes s set ${probing} from ended where s.scope = ended.scope
  `.execute(database);
}

/** Releases the slot of a call that was certainly never sent. */
export async function releaseSlot(database: Kysely<Tables>, callId: string): Promise<void> {
  await sql`delete from rate_calls where call_id = ${callId}`.execute(database);
}

/** The pause after a 429 doubles at most this many times, to about two minutes. */
const longestBackoffExponent = 6;
const shortestPauseSeconds = 2;
/** Maximum pause after a 429. Services have sent a `retry-after` of days; an hour covers all likely windows. */
const longestPauseSeconds = 3_600;

/**
 * Pauses all workers after a 429 for the requested time, within bounds, and returns its seconds. The minimum doubles
 * with each consecutive 429; simultaneous ones count as one. Only the success of a later call ends the pause.
 */
export async function pauseEndpoint(
  database: Kysely<Tables>,
  scope: string,
  callId: string,
  retryAfterSeconds: number | undefined,
): Promise<number> {
  const asked = Math.min(Math.max(retryAfterSeconds ?? 0, shortestPauseSeconds), longestPauseSeconds);
  const refusals = sql`greatest(1, s.refusals + (
    s.refused_at is null
    or coalesce((select started_at from rate_calls where call_id = ${callId}), clock_timestamp()) > s.refused_at
  )::int)`;
  const result = await sql<{ seconds: number }>`
    insert into rate_scopes as s (scope, paused_until, pause_reason, refusals, refused_at)
    values (${scope}, clock_timestamp() + make_interval(secs => ${asked}),
      'the service refused a call for its rate (429)', 1, clock_timestamp())
    on conflict (scope) do update set
      refusals = ${refusals},
      refused_at = clock_timestamp(),
      pause_reason = excluded.pause_reason,
      paused_until = greatest(s.paused_until, excluded.paused_until, clock_timestamp()
        + make_interval(secs => ${shortestPauseSeconds} * 2 ^ least(${refusals} - 1, ${longestBackoffExponent})))
    returning extract(epoch from paused_until - clock_timestamp())::float8 as seconds
  `.execute(database);
  return Math.ceil(result.rows[0]?.seconds ?? shortestPauseSeconds);
}

/** Converts a wait from SQL to milliseconds and a reason for operators. */
export function toSlotWait(wait: SqlSlotWait): SlotWait {
  return { milliseconds: Math.max(1, Math.ceil(wait.milliseconds)), reason: reasonOf(wait) };
}

/** Why a call must wait, in words for the operator. */
function reasonOf({ cause, reason, calls = 0, seconds = 0 }: SqlSlotWait): string {
  switch (cause) {
    case 'paused':
      return reason ?? 'the service asked for a pause';
    case 'probing':
      return 'one call probes whether the service accepts calls again';
    case 'window':
      return `the rate window of ${formatRateLimits([{ calls, seconds }])} is full`;
    case 'service':
      return `the service has no calls left in its window of ${formatDuration(seconds)}; other programs may use it too`;
    case 'preempted':
      return 'the calls that are left in a rate window are reserved for runs of higher priority';
  }
}

/** What the rate windows need to know about a call without a usable answer. */
interface FailedCall extends RateReport {
  readonly type: string;
  readonly disposition: string;
  readonly httpStatus: number | undefined;
}

/** Ends a failed call. A slot of a call that was certainly never sent is free at once. A 429 pauses the endpoint. */
export async function endFailedCall(
  database: Kysely<Tables>,
  of: RateScope,
  callId: string,
  failure: FailedCall,
  callSeconds: number,
): Promise<void> {
  // The pause is stored first, so that no other worker sends a call during the pause.
  if (failure.disposition === 'wait')
    await pauseEndpoint(database, of.scope, callId, failure.retryAfterSeconds);
  if (failure.type.startsWith('not-sent.')) await releaseSlot(database, callId);
  // If there was no answer, the service may count the call later than now.
  else if (failure.httpStatus === undefined) await abandonCall(database, callId, callSeconds);
  else await endCall(database, of, callId, endOf(failure), failure);
}

/** How a failed call ends, for {@link endCall}: it decides if other calls follow without restriction. */
function endOf({ type, disposition }: FailedCall): Parameters<typeof endCall>[3] {
  if (disposition === 'pause' || disposition === 'unknown') return 'failed';
  // A call that the service refused for its people or for an expired token has passed the service's rate limit.
  return disposition === 'reject' || type === 'token-renewed' ? 'accepted' : 'refused';
}

/** An endpoint of one service. The service has one rate limit per endpoint. */
export interface RateScope {
  /** Name of the service in the options of runs: a URL, or `sandbox`. */
  readonly service: string;
  readonly scope: string;
}

/** What a response reports about the rate limit. */
export interface RateReport {
  readonly rateLimits: readonly ReportedWindow[];
  readonly retryAfterSeconds?: number | undefined;
}

/** The request that was answered with a rate report: a call with a slot, or another request with its start time. */
type ReportingRequest =
  | { readonly callId: string }
  /** Start of the request by the clock of the database (`readDatabaseClockText`). */
  | { readonly beganAt: string };

/**
 * Stores the service's rate reports. Answers can overtake each other: within a window the calls left only decrease, so
 * the lowest report is the newest, and a higher report of a later request belongs to a new window. A report below our
 * own count is obeyed, because other programs share the quota.
 */
export async function recordRateReports(
  database: Kysely<Tables>,
  of: RateScope,
  request: ReportingRequest,
  report: RateReport,
): Promise<void> {
  if (report.rateLimits.length > 0) await storeReports(of, request, report).execute(database);
}

/** Reads the database's clock as text with microseconds, because a Date has only milliseconds. */
export async function readDatabaseClockText(database: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(database);
  return rows[0]!.at;
}

/** SQL statement that stores the service's rate reports, one row for each window with a known number of calls left. */
function storeReports(
  { service, scope }: RateScope,
  request: ReportingRequest,
  { rateLimits, retryAfterSeconds }: RateReport,
): RawBuilder<unknown> {
  const reports = rateLimits.flatMap((window) => {
    const left = callsLeft(window);
    if (left === undefined) return [];
    // The first request opens a window. The end of an unused window is unknown.
    const isOpen = left < Math.min(window.limit ?? unlimitedCalls, unlimitedCalls);
    const endsWithinSeconds = isOpen ? window.seconds : 0;
    // A 429 states when the exhausted window ends.
    const isEndNamed = left === 0 && retryAfterSeconds !== undefined && retryAfterSeconds >= 1;
    return [
      {
        seconds: window.seconds,
        // A limit of 0 would allow no call, so the service would never send a new report.
        limit: Math.max(1, Math.min(window.limit ?? unlimitedCalls, unlimitedCalls)),
        left: Math.min(left, unlimitedCalls),
        endsWithinSeconds: isEndNamed ? Math.min(retryAfterSeconds, endsWithinSeconds) : endsWithinSeconds,
      },
    ];
  });
  // An old report with the same number is renewed. A young one keeps its time, so that later requests can show a new
  // window.
  const isOld = sql`r.said_at <= clock_timestamp() - make_interval(secs => ${rateReportTrustSeconds})`;
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
