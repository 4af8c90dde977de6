import { parseDuration, formatDuration } from '../text/duration.ts';
import { UsageProblem, type Problem } from '../problem.ts';

/** At most `calls` calls may arrive at the service in any trailing `seconds` seconds. */
export interface RateLimit {
  readonly calls: number;
  readonly seconds: number;
}

/** One rate window as the service reports it. Null: unlimited (an empty header); undefined: not reported. */
export interface ReportedWindow {
  readonly seconds: number;
  /** Allowed calls. */
  readonly limit: number | null | undefined;
  readonly used: number | undefined;
  /** Remaining calls. */
  readonly left: number | null | undefined;
}

const named: ReadonlyMap<string, number> = new Map([
  ['second', 1],
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
]);

/** The service has no longer window, and calls are kept for a day only. */
export const longestWindowSeconds = 86_400;

/**
 * Reads `RATE_LIMITS`: `600/hour`, `20/10s`, several separated by commas, or `unlimited`.
 *
 * @returns the windows, shortest first; empty for `unlimited`
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
    if (seconds > longestWindowSeconds) throw invalid(part, 'its window is longer than a day');
    return { calls, seconds };
  });
  return limits.sort((a, b) => a.seconds - b.seconds);
}

/** Rate limits in the form of the setting: `20/10s, 600/hour`. */
export function formatRateLimits(limits: readonly RateLimit[]): string {
  if (limits.length === 0) return 'unlimited';
  return limits.map((limit) => `${limit.calls}/${windowName(limit.seconds)}`).join(', ');
}

/** The lowest limit of each window, shortest window first. */
export function lowestLimits(limits: readonly RateLimit[]): RateLimit[] {
  const lowest = new Map<number, number>();
  for (const { calls, seconds } of limits)
    lowest.set(seconds, Math.min(calls, lowest.get(seconds) ?? Number.POSITIVE_INFINITY));
  return [...lowest].map(([seconds, calls]) => ({ calls, seconds })).sort((a, b) => a.seconds - b.seconds);
}

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
 * How long a service's report about a window decides how many calls may begin. No header names the end of a window, so
 * after this time one call at a time asks again.
 */
export const trustedSeconds = 3_600;

/** The calls of a window without a limit: PostgreSQL's largest integer. */
export const unlimitedCalls = 2_147_483_647;

/**
 * The calls left in a reported window; undefined if the report does not say. A window with a limit is not unlimited,
 * even if the number of calls left is empty.
 */
export function callsLeft({ limit, used, left }: Omit<ReportedWindow, 'seconds'>): number | undefined {
  if (typeof left === 'number') return left;
  if (typeof limit === 'number') return used === undefined ? undefined : Math.max(0, limit - used);
  return left === null || limit === null ? unlimitedCalls : undefined;
}

/**
 * Estimates the duration of a number of calls under the rate windows, in seconds.
 *
 * A burst uses the free slots at once. Then each window admits its limit once per window.
 *
 * @param calls number of remaining calls
 * @param limits windows with their free slots
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

/** A longer wait may become wrong: by a corrected clock, a higher RATE_LIMITS, or a newer report of the service. */
export const longestWaitMilliseconds = 60 * 60_000;
