import { Context } from '@temporalio/activity';

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
  // The SDK sends every second beat (`maxHeartbeatThrottleInterval`), so that two arrive within the timeout.
  const every = (context.info.heartbeatTimeoutMs ?? 10_000) / 4;
  const beat = setInterval(() => context.heartbeat(details()), every);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
