import { parseDuration, formatDuration } from '../text/duration.ts';
import { UsageProblem, type Problem } from '../problem.ts';

/** A rate limit: at most `calls` calls may arrive at the service in any trailing `seconds` seconds. */
export interface RateLimit {
  readonly calls: number;
  readonly seconds: number;
}

/**
 * One rate window as the service reports it. A number is null if unlimited (an empty header), and undefined if not
 * reported.
 */
export interface ReportedWindow {
  readonly seconds: number;
  /** Number of allowed calls in the window. */
  readonly limit: number | null | undefined;
  readonly used: number | undefined;
  /** Number of remaining calls in the window. */
  readonly left: number | null | undefined;
}

const named: ReadonlyMap<string, number> = new Map([
  ['second', 1],
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
]);

/** Longest rate window. The service has no longer window, and the database keeps calls for only one day. */
export const maxWindowSeconds = 86_400;

/**
 * Reads `RATE_LIMITS`, such as `20/10s,600/hour`, the shortest window first; none for `unlimited`.
 *
 * @throws Problem `setting.invalid`
 */
export function parseRateLimits(text: string): RateLimit[] {
  if (text.trim().toLowerCase() === 'unlimited') return [];
  const limits = text.split(',').map((part) => {
    const match = /^\s*(\d{1,9})\s*\/\s*(\S+)\s*$/.exec(part);
    const calls = Number(match?.[1] ?? 0);
    const window = match?.[2]?.toLowerCase() ?? '';
    if (!match || calls < 1) throw invalid(part);
    const seconds = named.get(window) ?? (/^\d/.test(window) ? parseDuration(window, 'RATE_LIMITS') : 0);
    if (seconds < 1) throw invalid(part);
    if (seconds > maxWindowSeconds) throw invalid(part, 'its window is longer than a day');
    return { calls, seconds };
  });
  return limits.sort((a, b) => a.seconds - b.seconds);
}

/** Formats rate limits like the setting: `20/10s, 600/hour`. */
export function formatRateLimits(limits: readonly RateLimit[]): string {
  if (limits.length === 0) return 'unlimited';
  return limits.map((limit) => `${limit.calls}/${windowName(limit.seconds)}`).join(', ');
}

/** Returns the lowest limit of each window length, the shortest window first. */
export function lowestLimits(limits: readonly RateLimit[]): RateLimit[] {
  const lowest = new Map<number, number>();
  for (const { calls, seconds } of limits)
    lowest.set(seconds, Math.min(calls, lowest.get(seconds) ?? Number.POSITIVE_INFINITY));
  return [...lowest].map(([seconds, calls]) => ({ calls, seconds })).sort((a, b) => a.seconds - b.seconds);
}

/** The name of a window as in the setting: `hour`, or `10s` for a length without a name. */
function windowName(seconds: number): string {
  return [...named].find(([, size]) => size === seconds)?.[0] ?? formatDuration(seconds);
}

function invalid(part: string, reason?: string): Problem {
  const what = `"${part.trim()}" is not a rate limit${reason === undefined ? '' : `: ${reason}`}`;
  return new UsageProblem('setting.invalid', what, {
    where: 'RATE_LIMITS',
    next: 'write calls and a window, such as 600/hour or 20/10s; separate several by commas; or write "unlimited"',
  });
}

/**
 * Seconds for which a service's report about a window limits calls. No header states when a window ends, so afterwards
 * single calls find out whether the window has free slots.
 */
export const rateReportTrustSeconds = 3_600;

/** Number of calls that stands for no limit: PostgreSQL's largest integer. */
export const unlimitedCalls = 2_147_483_647;

/** Calls left in a reported window, if the report shows them. Beside a limit, an empty number is not unlimited. */
export function callsLeft({ limit, used, left }: Omit<ReportedWindow, 'seconds'>): number | undefined {
  if (typeof left === 'number') return left;
  if (typeof limit === 'number') return used === undefined ? undefined : Math.max(0, limit - used);
  return left === null || limit === null ? unlimitedCalls : undefined;
}

/**
 * Estimates the seconds that calls take: the free slots are used first, then each window admits `calls` more per length
 * of the window. The slowest window counts, or the work itself if it takes longer.
 *
 * @param secondsPerCall time between the answers of two calls
 */
export function estimateSeconds(
  calls: number,
  limits: readonly (RateLimit & { readonly free: number })[],
  secondsPerCall: number,
): number {
  if (calls === 0) return 0;
  const working = calls * secondsPerCall;
  const waiting = limits.map((limit) => {
    const beyond = Math.max(0, calls - limit.free);
    return Math.ceil(beyond / limit.calls) * limit.seconds;
  });
  return Math.ceil(Math.max(working, ...waiting));
}

/** Maximum wait for a slot. The clock, RATE_LIMITS or a report of the service may change in the meantime. */
export const maxWaitMilliseconds = 60 * 60_000;
