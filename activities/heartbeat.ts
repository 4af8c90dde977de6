import { Context } from '@temporalio/activity';

/** The SDK sends every second beat (`maxHeartbeatThrottleInterval`), two within the shortest timeout of 10 s. */
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
