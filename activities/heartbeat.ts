import { Context } from '@temporalio/activity';

/** Several beats fit into the shortest heartbeat timeout (10 s): one that is lost does not end an activity. */
const beatMilliseconds = 2_500;

/**
 * Runs work under a steady heartbeat, so that Temporal sees within seconds that this worker has died, and tells the
 * work by the signal when the activity is cancelled or the worker shuts down.
 *
 * @param details what the heartbeat says of the work: counts only
 */
export async function withHeartbeat<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  details: () => unknown = () => undefined,
): Promise<Result> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(details()), beatMilliseconds);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
