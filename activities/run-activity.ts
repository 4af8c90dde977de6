import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { Problem } from '../src/domain/problem.ts';
import type { Logger } from '../src/telemetry/log.ts';
import { describeTransientState } from '../src/db/postgres-errors.ts';

/**
 * Turns an error of an activity into the failure that Temporal stores: a type and one sentence, without the cause,
 * which can contain cells. Temporal retries while the database is unreachable, full or read-only. Other Problems need
 * the operator.
 */
export async function mappingFailures<Result>(log: Logger, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CancelledFailure || error instanceof ApplicationFailure) throw error;
    if (Context.current().cancellationSignal.aborted)
      throw new CancelledFailure('the worker is shutting down');
    const { activityType, workflowExecution, attempt } = Context.current().info;
    const stateOfDatabase = describeTransientState(error);
    if (stateOfDatabase) {
      const { type, message } = stateOfDatabase;
      log.warn({ activity: activityType, tries: attempt, type }, message);
      throw ApplicationFailure.retryable(message, type);
    }
    if (error instanceof Problem) {
      log.warn({ activity: activityType, type: error.type }, `an activity failed: ${error.message}`);
      throw ApplicationFailure.nonRetryable(error.explain(), error.type);
    }
    log.error(
      {
        err: error,
        ...(workflowExecution && runOfWorkflow(workflowExecution.workflowId)),
        activity: activityType,
        tries: attempt,
      },
      'an activity failed unexpectedly',
    );
    const kind = error instanceof Error ? error.name : typeof error;
    throw ApplicationFailure.retryable(
      `unexpected ${kind}: the log of the worker has the details`,
      'internal',
    );
  }
}

/** Finds the run of a workflow. A run's workflow has the run's id, and a page's workflow `<run>/page-7`. */
function runOfWorkflow(workflowId: string): { readonly runId: string; readonly page?: number } {
  const [runId = '', page] = workflowId.split('/page-');
  return { runId, ...(page !== undefined && { page: Number(page) }) };
}

/**
 * Runs work with heartbeats, so that Temporal notices a dead worker within seconds. The signal tells the work that the
 * activity is cancelled or the worker shuts down.
 *
 * @param details content of a heartbeat: only counts
 */
export async function withHeartbeat<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  details: () => unknown = () => undefined,
): Promise<Result> {
  const context = Context.current();
  // The SDK sends every second heartbeat (`maxHeartbeatThrottleInterval`), so two of them arrive within the timeout.
  const every = (context.info.heartbeatTimeoutMs ?? 10_000) / 4;
  const beat = setInterval(() => context.heartbeat(details()), every);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
