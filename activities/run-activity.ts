import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { Problem } from '../src/domain/problem.ts';
import type { Logger } from '../src/telemetry/log.ts';
import { passingStateOf } from '../src/db/postgres-errors.ts';

/**
 * Maps an error of an activity to the failure that Temporal keeps: a type and one sentence, without the cause, because
 * causes have statements and cells. Temporal retries while the database is unreachable, full or read-only. Any other
 * Problem needs a person.
 */
export async function mappingFailures<Result>(log: Logger, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CancelledFailure || error instanceof ApplicationFailure) throw error;
    if (Context.current().cancellationSignal.aborted)
      throw new CancelledFailure('the worker is shutting down');
    const { activityType, workflowExecution, attempt } = Context.current().info;
    const stateOfDatabase = passingStateOf(error);
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

/** The workflow of a run has the run's id, and the workflow of a page `<run>/page-0007`. */
function runOfWorkflow(workflowId: string): { readonly runId: string; readonly page?: number } {
  const [runId = '', page] = workflowId.split('/page-');
  return { runId, ...(page !== undefined && { page: Number(page) }) };
}

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
