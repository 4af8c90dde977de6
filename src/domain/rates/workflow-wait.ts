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
