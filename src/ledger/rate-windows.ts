import { sql, type Kysely, type Transaction } from 'kysely';
import { formatDuration } from '../domain/text/duration.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import type { Tables } from '../db/schema.ts';
import { readReports, recordReports, type RateScope, type RateReport } from './rate-reports.ts';

/** Endpoints: the service counts the calls of each by themselves. */
export const bulkMatchScope = 'people/bulk_match';
export const matchScope = 'people/match';
/** Polls: an endpoint of its own, counted apart and held to the same limits. */
export const webhookResultScope = 'webhook_result';

export interface Wait {
  /** By the database's clock alone, so that no clock of a worker can release a slot early. */
  readonly milliseconds: number;
  readonly reason: string;
  /** Others go first: there is a slot by then only if no more of them come. */
  readonly isPreempted?: true;
}

export type Place = { readonly kind: 'taken' } | ({ readonly kind: 'full' } & Wait);

/**
 * Takes a slot in every rate window for one call, in the caller's transaction.
 *
 * A call occupies its slot until one window after `counted_until`: the latest moment at which the service may have
 * counted it. That is the call's deadline while it is in flight and its real end afterwards (`endCall`). Counting from
 * admission instead would let a slow call and its successor arrive within one window of the service. A process that
 * dies leaves nothing to clean up: its calls end at their deadlines.
 *
 * @param limits at most so many calls in any trailing window; none means unlimited
 * @param kept slots that are left free in each window, for calls that go first
 * @param deadlineSeconds the longest that the call can take from now on
 */
export async function acquireSlot(
  transaction: Transaction<Tables>,
  call: RateScope & { readonly callId: string; readonly deadlineSeconds: number },
  limits: readonly RateLimit[],
  kept = 0,
): Promise<Place> {
  const paused = await lockScope(transaction, call.scope);
  if (paused) return { kind: 'full', ...paused };
  const full = await longestWait(transaction, call, limits, kept);
  if (full) return { kind: 'full', ...full };
  await sql`
    insert into rate_calls (call_id, scope, counted_until)
    values (${call.callId}, ${call.scope}, clock_timestamp() + make_interval(secs => ${call.deadlineSeconds}))
  `.execute(transaction);
  return { kind: 'taken' };
}

/**
 * Tells how many calls could be admitted right now, without taking a slot.
 *
 * @returns `slots` is Infinity without limits; where it is 0, `wait` says for how long at least
 */
export async function freeSlots(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
): Promise<{ places: number; wait: Wait | undefined }> {
  const pause = await sql<{ milliseconds: number; reason: string | null }>`
    select extract(epoch from paused_until - clock_timestamp())::float8 * 1000 as milliseconds, pause_reason as reason
    from rate_scopes where scope = ${of.scope} and paused_until > clock_timestamp()
  `.execute(database);
  const paused = pause.rows[0];
  if (paused)
    return {
      places: 0,
      wait: waitFor(paused.milliseconds, paused.reason ?? 'the service asked for a pause'),
    };
  const windows = await freeSlotsPerWindow(database, of, limits);
  const places = Math.min(Number.POSITIVE_INFINITY, ...windows.map((window) => window.free));
  return { places, wait: places > 0 ? undefined : await longestWait(database, of, limits, 0) };
}

/** Each window, ours and those that the service tells of, with the slots that are free in it now. */
export async function freeSlotsPerWindow(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
): Promise<readonly (RateLimit & { readonly free: number })[]> {
  return [...(await ownFreeSlots(database, of.scope, limits)), ...(await readReports(database, of))];
}

/** Each window of `limits`, with the slots that are free in it by our own count. */
export async function ownFreeSlots(
  database: Kysely<Tables>,
  scope: string,
  limits: readonly RateLimit[],
): Promise<readonly (RateLimit & { readonly free: number })[]> {
  if (limits.length === 0) return [];
  const used = await sql<RateLimit & { free: number }>`
    select w.calls, w.seconds, greatest(0, w.calls - count(c.call_id))::int as free
    from unnest(${limits.map((limit) => limit.calls)}::int[], ${limits.map((limit) => limit.seconds)}::int[]) as w (calls, seconds)
    left join rate_calls c on c.scope = ${scope}
      and c.counted_until > clock_timestamp() - make_interval(secs => w.seconds)
    group by w.calls, w.seconds
  `.execute(database);
  return used.rows;
}

/**
 * The answer has come, or the call was abandoned: its slot is free one window from now.
 *
 * @param accepted the service let the call through: probing after a refusal (429) ends, if the call began after it. One
 *   that was in flight already says nothing of the pause that was asked for
 * @param word what the service said of its windows
 */
export async function endCall(
  database: Kysely<Tables>,
  of: RateScope,
  callId: string,
  accepted: boolean,
  word: RateReport = { rateLimits: [] },
): Promise<void> {
  // First: between the two the call would otherwise be neither in flight nor among those that the service has counted.
  await recordReports(database, of, callId, word);
  await sql`
    with ended as (
      update rate_calls set counted_until = least(counted_until, clock_timestamp()) where call_id = ${callId}
      returning started_at
    )
    update rate_scopes set refusals = 0, paused_until = null from ended
    where ${accepted} and scope = ${of.scope} and refusals > 0 and ended.started_at > refused_at
  `.execute(database);
}

/**
 * No answer has come and none is waited for any more. The service may still take the call out of a queue or a buffer:
 * its slot is kept as if it arrived within another call's time.
 */
export async function giveCallUp(
  database: Kysely<Tables>,
  callId: string,
  callSeconds: number,
): Promise<void> {
  await sql`
    update rate_calls set counted_until = greatest(counted_until, clock_timestamp() + make_interval(secs => ${callSeconds}))
    where call_id = ${callId}
  `.execute(database);
}

/** The call is certain never to have left this machine: the service cannot have counted it. */
export async function releaseSlot(database: Kysely<Tables>, callId: string): Promise<void> {
  await sql`delete from rate_calls where call_id = ${callId}`.execute(database);
}

/** Refusals in a row after which the pause no longer doubles: 2^6 times the shortest, about two minutes. */
const longestBackoffExponent = 6;
const shortestPauseSeconds = 2;
/**
 * A `retry-after` of days is seen in the field; an hour covers the longest window that a plan is likely to have left.
 */
const longestPauseSeconds = 3_600;

/**
 * The service refused a call for its rate (429): every worker pauses once, for what the service asked, within bounds,
 * and at least for a time that doubles with each refusal in a row. Refusals of calls that were in flight at once are
 * one.
 *
 * `refused_at` is the moment at which the pause begins to hold, after every admission that this waited for: a call that
 * was admitted meanwhile counts as in flight, and its success does not end the pause.
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

/** Forgets calls that no window of up to `keepSeconds` can still hold. */
export async function forgetOldCalls(database: Kysely<Tables>, keepSeconds: number): Promise<void> {
  await sql`
    delete from rate_calls where counted_until < clock_timestamp() - make_interval(secs => ${keepSeconds})
  `.execute(database);
}

/** One admission at a time per endpoint; while a refusal is fresh, one call at a time probes. */
async function lockScope(transaction: Transaction<Tables>, scope: string): Promise<Wait | undefined> {
  const lock = () =>
    sql<{ milliseconds: number | null; reason: string | null; probing: boolean }>`
      select extract(epoch from paused_until - clock_timestamp())::float8 * 1000 as milliseconds, pause_reason as reason,
        refusals > 0 as probing
      from rate_scopes where scope = ${scope} for update
    `.execute(transaction);
  let row = (await lock()).rows[0];
  if (!row) {
    await sql`insert into rate_scopes (scope) values (${scope}) on conflict do nothing`.execute(transaction);
    row = (await lock()).rows[0];
  }
  if (row && row.milliseconds !== null && row.milliseconds > 0) {
    return waitFor(row.milliseconds, row.reason ?? 'the service asked for a pause');
  }
  if (row?.probing) {
    const inFlight = await sql`
      select 1 from rate_calls where scope = ${scope} and counted_until > clock_timestamp() limit 1
    `.execute(transaction);
    if (inFlight.rows.length > 0)
      return waitFor(250, 'one call probes whether the service accepts calls again');
  }
  return undefined;
}

/** Nothing says when the calls that the service has left are free for those that come after: it is asked again. */
const keptInServiceWindowMilliseconds = 5_000;

/** The window in which there is no slot for longest, ours or one of the service, beside those that are kept. */
async function longestWait(
  database: Kysely<Tables>,
  of: RateScope,
  limits: readonly RateLimit[],
  kept: number,
): Promise<Wait | undefined> {
  const own = await fullestWindow(database, of.scope, limits, kept);
  const reported = (await readReports(database, of))
    .filter((window) => window.free <= kept)
    .map(({ free, milliseconds, seconds }) =>
      free > 0
        ? waitFor(
            keptInServiceWindowMilliseconds,
            `the calls that the service has left in its window of ${formatDuration(seconds)} are kept for runs that go first`,
          )
        : waitFor(
            milliseconds,
            `the service has no calls left in its window of ${formatDuration(seconds)}, which other programs use as well`,
          ),
    );
  const longest = [own, ...reported].reduce((one, other) =>
    other && other.milliseconds > (one?.milliseconds ?? 0) ? other : one,
  );
  return longest && kept > 0 ? { ...longest, isPreempted: true } : longest;
}

/**
 * The window that stays full for longest. The slot that counts is the one of the limit-th newest call: when it is given
 * back, one fewer than the limit are left. Where that call is still in flight it cannot end before now.
 *
 * Places that are kept make the limit as much lower. Where more are kept than the window has, all of it is used by
 * others first.
 */
async function fullestWindow(
  database: Kysely<Tables>,
  scope: string,
  limits: readonly RateLimit[],
  kept: number,
): Promise<Wait | undefined> {
  if (limits.length === 0) return undefined;
  const others = kept > 0 ? `has no place beside the ${kept} kept for runs that go first` : 'is full';
  const wait = (limit: RateLimit, milliseconds: number): Wait =>
    waitFor(milliseconds, `the rate window of ${formatRateLimits([limit])} ${others}`);
  const used = limits
    .filter(({ calls }) => calls <= kept)
    .sort((one, other) => other.seconds - one.seconds)[0];
  if (used) return wait(used, used.seconds * 1_000);
  const result = await sql<RateLimit & { milliseconds: number }>`
    select w.calls, w.seconds, extract(epoch from least(c.counted_until, clock_timestamp())
      + make_interval(secs => w.seconds) - clock_timestamp())::float8 * 1000 as milliseconds
    from unnest(${limits.map((limit) => limit.calls)}::int[], ${limits.map((limit) => limit.seconds)}::int[]) as w (calls, seconds)
    cross join lateral (
      select counted_until from rate_calls
      where scope = ${scope} and counted_until > clock_timestamp() - make_interval(secs => w.seconds)
      order by counted_until desc offset w.calls - ${kept}::int - 1 limit 1
    ) c
    order by milliseconds desc limit 1
  `.execute(database);
  const fullest = result.rows[0];
  return fullest && wait(fullest, fullest.milliseconds);
}

function waitFor(milliseconds: number, reason: string): Wait {
  return { milliseconds: Math.max(1, Math.ceil(milliseconds)), reason };
}
