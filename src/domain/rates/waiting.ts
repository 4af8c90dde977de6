import type { RateLimit } from './rate-limit.ts';

/**
 * Estimates the duration of a number of calls under the rate windows, in seconds.
 *
 * A burst uses the free slots at once. Then each window admits its limit once per window.
 *
 * @param calls number of remaining calls
 * @param limits windows with their free slots
 * @param pace seconds per call, and the number of concurrent calls
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

/** A longer wait may become wrong: by a corrected clock, a higher RATE_LIMITS, or a newer report of the service. */
export const longestWaitMilliseconds = 60 * 60_000;

/**
 * Higher-priority work can take any amount of time. A batch waits in the activity for six times its patience, so that
 * it continues at once after a short run. Then it tries every five minutes: trying whenever a slot could be free would
 * fill the history of its page within hours, at 150 events a try.
 */
const preemptedPatience = 6;
const preemptedMilliseconds = 5 * 60_000;

/**
 * Decides whether a batch waits by a timer of its workflow, which frees the activity for other batches.
 *
 * @param waited milliseconds that the batch has waited in its activity
 * @returns the milliseconds that the batch waits by a timer of the workflow; undefined: it waits in its activity
 */
export function waitOfWorkflow(
  { milliseconds, isPreempted }: { readonly milliseconds: number; readonly isPreempted?: boolean },
  waited: number,
  patience: number,
): number | undefined {
  if (!isPreempted) return waited + milliseconds <= patience ? undefined : milliseconds;
  return waited < preemptedPatience * patience ? undefined : Math.max(milliseconds, preemptedMilliseconds);
}
