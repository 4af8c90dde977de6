import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { Problem } from '../src/domain/problem.ts';
import type { Logger } from '../src/telemetry/log.ts';
import { isDatabaseAway } from '../src/db/postgres-errors.ts';

/**
 * Maps what an activity throws to what Temporal keeps: a type, one sentence and no cause, because causes carry
 * statements and cells. A database that is away is tried again; a Problem needs a person.
 */
export async function mappingFailures<Result>(log: Logger, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CancelledFailure || error instanceof ApplicationFailure) throw error;
    if (Context.current().cancellationSignal.aborted)
      throw new CancelledFailure('the worker is shutting down');
    const { activityType, workflowExecution, attempt } = Context.current().info;
    if (isDatabaseAway(error) || (error instanceof Problem && error.type === 'database.unreachable')) {
      log.warn({ activity: activityType, tries: attempt }, 'the database does not answer');
      throw ApplicationFailure.retryable('the database does not answer', 'database.unreachable');
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

/** Workflows of runs have the run's id, and those of pages `<run>/page-0007`. */
function runOfWorkflow(workflowId: string): { readonly runId: string; readonly page?: number } {
  const [runId = '', page] = workflowId.split('/page-');
  return { runId, ...(page !== undefined && { page: Number(page) }) };
}
