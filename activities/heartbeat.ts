import { Context } from '@temporalio/activity';

/** The SDK sends every second beat (`maxHeartbeatThrottleInterval`), two within the shortest timeout of 10 s. */
const beatMilliseconds = 2_500;

/**
 * Runs work with regular heartbeats, so that Temporal notices within seconds if this worker has died. The signal tells
 * the work that the activity is cancelled or that the worker shuts down.
 *
 * @param details content of the heartbeat: only counts
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
