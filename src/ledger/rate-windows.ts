import { sql, type Kysely, type RawBuilder } from 'kysely';
import { formatDuration } from '../domain/text/duration.ts';
import { capabilities } from '../domain/service-capabilities.ts';
import {
  formatRateLimits,
  type RateLimit,
  callsLeft,
  trustedSeconds,
  unlimitedCalls,
  type ReportedWindow,
} from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';

/** The service counts calls per endpoint. */
export const { bulkMatch: bulkMatchScope, match: matchScope, poll: webhookResultScope } = capabilities.scopes;

/** The deadline of a slot allows this time between the admission of a call and its start. */
export const slackSeconds = 5;

export interface Wait {
  /** Time until the next try. It comes from the database, because the clocks of workers differ. */
  readonly milliseconds: number;
  readonly reason: string;
}

type SlotResult = { readonly kind: 'acquired' } | ({ readonly kind: 'full' } & Wait);

/** Why a call must wait for a slot, as returned by the SQL functions. */
export interface SlotWait {
  readonly cause: 'paused' | 'probing' | 'window' | 'service' | 'preempted';
  readonly milliseconds: number;
  /** Set if all calls are paused. */
  readonly reason?: string | null;
  /** Set if a window is full. */
  readonly calls?: number;
  readonly seconds?: number;
}

/**
 * Acquires a slot in every rate window for one call. `admit` does the same together with its other work.
 *
 * A call occupies its slot until one window after `counted_until`, the latest time at which the service may have
 * counted it: the deadline of a call in flight, then its end (`endCall`). Counting from admission would allow a slow
 * call and its successor within one window of the service. Calls of a process that dies end at their deadlines.
 *
 * @param limits maximum calls in any trailing window; none: unlimited
 */
export async function acquireSlot(
  database: Kysely<Tables>,
  call: RateScope & { readonly callId: string; readonly deadlineSeconds: number },
  limits: readonly RateLimit[],
): Promise<SlotResult> {
  const { rows } = await sql<{ wait: SlotWait | null }>`
    select acquire_slot(${call.service}, ${call.scope}, ${limits.map((limit) => limit.calls)}::integer[],
      ${limits.map((limit) => limit.seconds)}::integer[], ${call.callId}, ${call.deadlineSeconds}::float8) as wait
  `.execute(database);
  const { wait } = rows[0]!;
  return wait === null ? { kind: 'acquired' } : { kind: 'full', ...describeWait(wait) };
}

/**
 * Counts the calls that could be admitted now, without acquiring a slot.
 *
 * @returns `slots` is Infinity without limits; `wait` is the shortest wait if `slots` is 0
 */
export async function freeSlots(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
): Promise<{ slots: number; wait: Wait | undefined }> {
  const { rows } = await sql<{ slots: number | null; wait: SlotWait | null }>`
    select slots, wait from free_slots(${of.service}, ${of.scope}, ${limits.map((limit) => limit.calls)}::integer[],
      ${limits.map((limit) => limit.seconds)}::integer[], 0)
  `.execute(database);
  const { slots, wait } = rows[0]!;
  return {
    slots: slots ?? Number.POSITIVE_INFINITY,
    wait: slots === 0 && wait ? describeWait(wait) : undefined,
  };
}

export interface RateWindow extends RateLimit {
  /** `window`: a limit of this process, by our own count. `service`: a report of the service. */
  readonly cause: 'window' | 'service';
  readonly free: number;
}

/**
 * Returns the free slots of every window, of `limits` and of the service's reports, the shortest window first. Calls in
 * flight occupy slots. An expired report counts as an unused window.
 */
export async function readRateWindows(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
): Promise<readonly RateWindow[]> {
  const { rows } = await sql<RateWindow>`
    select cause, calls, seconds, free
    from rate_windows(${of.service}, ${of.scope}, ${limits.map((limit) => limit.calls)}::integer[],
      ${limits.map((limit) => limit.seconds)}::integer[])
  `.execute(database);
  return rows;
}

/**
 * Ends a call that was answered or abandoned. Its slot is free one window later.
 *
 * @param how `accepted`: other calls may follow freely if the call began after the last refusal or failure. `failed`:
 *   one call at a time follows until the service accepts one, so that a lasting fault costs one call
 * @param report what the service reports about its windows
 */
export async function endCall(
  database: Kysely<Tables>,
  of: RateScope,
  callId: string,
  how: 'accepted' | 'refused' | 'failed',
  report: RateReport = { rateLimits: [] },
): Promise<void> {
  // One statement stores the report and ends the call, so that the call is always counted once. The commit does not
  // wait for the disk: after a crash the slot is occupied until the deadline of the call, and the next answer has a new
  // report.
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

/** SQL assignments to `rate_scopes` after which calls follow one at a time. */
const probing = sql`refusals = greatest(1, refusals), refused_at = clock_timestamp()`;

/**
 * Abandons a call without an answer. The service may still read it from a buffer, so its slot stays occupied as if the
 * call arrived one call duration later.
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
  await database.deleteFrom('rate_calls').where('call_id', '=', callId).execute();
}

/** The pause doubles at most six times, to about two minutes. */
const longestBackoffExponent = 6;
const shortestPauseSeconds = 2;
/** Services have sent a `retry-after` of days. An hour is enough for the windows of any likely plan. */
const longestPauseSeconds = 3_600;

/**
 * Pauses all workers after a 429, for the time that the service asks for, within bounds. The minimum doubles with each
 * consecutive 429. Refusals of simultaneous calls count as one.
 *
 * `refused_at` is when the pause takes effect. The success of a call that was admitted before does not end the pause.
 *
 * @returns the pause in seconds
 */
export async function pauseScope(
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

export function describeWait(wait: SlotWait): Wait {
  return { milliseconds: Math.max(1, Math.ceil(wait.milliseconds)), reason: reasonOf(wait) };
}

function reasonOf({ cause, reason, calls = 0, seconds = 0 }: SlotWait): string {
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

/** A call without a usable answer, as the rate windows see it. */
interface FailedCall extends RateReport {
  readonly type: string;
  readonly disposition: string;
  readonly httpStatus: number | undefined;
}

/**
 * Ends a failed call. A call that was certainly never sent releases its slot. A 429 pauses all calls of the endpoint.
 *
 * @param callSeconds the maximum duration of a call
 */
export async function endFailedCall(
  database: Kysely<Tables>,
  of: RateScope,
  callId: string,
  failure: FailedCall,
  callSeconds: number,
): Promise<void> {
  // The pause comes first, so that no other worker sends a call into it.
  if (failure.disposition === 'wait') await pauseScope(database, of.scope, callId, failure.retryAfterSeconds);
  if (failure.type.startsWith('not-sent.')) await releaseSlot(database, callId);
  // Without an answer the service may count the call later than now.
  else if (failure.httpStatus === undefined) await abandonCall(database, callId, callSeconds);
  else await endCall(database, of, callId, endOf(failure), failure);
}

function endOf({ type, disposition }: FailedCall): Parameters<typeof endCall>[3] {
  if (disposition === 'pause' || disposition === 'unknown') return 'failed';
  // Calls refused for their people or for an expired token have passed the rate limit of the service.
  return disposition === 'reject' || type === 'token-renewed' ? 'accepted' : 'refused';
}

/** An endpoint of one service. The service counts its calls together. */
export interface RateScope {
  /** As in the options of runs: a URL, or `sandbox`. */
  readonly service: string;
  readonly scope: string;
}

/** What a response reports about the rate limit. */
export interface RateReport {
  readonly rateLimits: readonly ReportedWindow[];
  readonly retryAfterSeconds?: number | undefined;
}

/** The request that a report answers: a call with a slot, or another request with its start time. */
type ReportingRequest =
  | { readonly callId: string }
  /** By the clock of the database (`readClockText`). */
  | { readonly beganAt: string };

/**
 * Stores the service's reports about its windows: the fewest calls left, until the window must have ended. A report
 * below our own count is obeyed, because other programs use the same quota, and the service's limit can be lower than
 * RATE_LIMITS.
 *
 * Answers can overtake each other, and no header says when a window ends. Within a window the calls left only decrease,
 * so the lowest report is the newest. A higher report of a request that began later belongs to a new window.
 */
export async function recordReports(
  database: Kysely<Tables>,
  of: RateScope,
  request: ReportingRequest,
  report: RateReport,
): Promise<void> {
  if (report.rateLimits.length > 0) await storeReports(of, request, report).execute(database);
}

/** Like `readClock`, but as text with microseconds, which a Date cannot hold. */
export async function readClockText(database: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(database);
  return rows[0]!.at;
}

/** The statement of `recordReports`. It stores a row for each window whose calls left are known. */
function storeReports(
  { service, scope }: RateScope,
  request: ReportingRequest,
  { rateLimits, retryAfterSeconds }: RateReport,
): RawBuilder<unknown> {
  const reports = rateLimits.flatMap((window) => {
    const left = callsLeft(window);
    if (left === undefined) return [];
    // The first request opens a window. An unused window has no end yet.
    const isOpen = left < Math.min(window.limit ?? unlimitedCalls, unlimitedCalls);
    const endsWithinSeconds = isOpen ? window.seconds : 0;
    // A refusal states when the exhausted window ends.
    const isEndNamed = left === 0 && retryAfterSeconds !== undefined && retryAfterSeconds >= 1;
    return [
      {
        seconds: window.seconds,
        // A limit of 0 would allow no call, so no new report would arrive.
        limit: Math.max(1, Math.min(window.limit ?? unlimitedCalls, unlimitedCalls)),
        left: Math.min(left, unlimitedCalls),
        endsWithinSeconds: isEndNamed ? Math.min(retryAfterSeconds, endsWithinSeconds) : endsWithinSeconds,
      },
    ];
  });
  // The same figure renews a report. A younger report keeps its time, so that later requests can show a new window.
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
