import type { RateLimit } from './rate-limit.ts';

/**
 * How long a number of calls takes under the rate windows.
 *
 * A burst uses what is free at once; from then on each window lets its calls through once per window.
 *
 * @param calls calls still to be made
 * @param limits the windows, with the slots that are free in each now
 * @param secondsPerCall what one call takes; `concurrency` of them run side by side
 * @returns seconds
 */
export function estimateSeconds(
  calls: number,
  limits: readonly (RateLimit & { readonly free: number })[],
  pace: { readonly secondsPerCall: number; readonly concurrency: number },
): number {
  if (calls === 0) return 0;
  const working = (calls * pace.secondsPerCall) / pace.concurrency;
  const waiting = limits.map((limit) => {
    const beyond = Math.max(0, calls - limit.free);
    return Math.ceil(beyond / limit.calls) * limit.seconds;
  });
  return Math.ceil(Math.max(working, ...waiting));
}
