import type { RateLimit } from './rate-limit.ts';

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
