import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  executeChild,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunInput, ScheduledRunInput, ScheduledRunResult } from '../src/contract/run-input.ts';
import { taskPriorities } from '../src/contract/temporal-names.ts';
import { describeStart, maxSummaryLength, startAttributes } from '../src/contract/workflow-details.ts';
import { formatCount } from '../src/domain/text/format.ts';
import { controlActivities } from './control-activities.ts';
import { enrichmentRun } from './enrichment-run.ts';

const { beginScheduledRuns } = controlActivities({
  // The activity reads whole files to hash them.
  startToCloseTimeout: '2 hours',
});

type EndedRun = ScheduledRunResult['runs'][number];

/**
 * Carries out one scheduled time: runs each found export in turn, as a child workflow that outlives a termination. Runs
 * that wait for the operator keep this workflow open, so that the overlap policy applies. It fails at the end if a run
 * has failed, for `--pause-on-failure`.
 */
export async function scheduledRun(input: ScheduledRunInput): Promise<ScheduledRunResult> {
  const asOf = scheduledTime();
  const { runs, refused } = await beginScheduledRuns
    .executeWithOptions({ summary: `look for ${input.export.from}`.slice(0, maxSummaryLength) }, [
      { ...input, asOf: asOf.toISOString() },
    ])
    .catch(throwCause);
  const ended: EndedRun[] = [];
  const failures = refused.map(({ file, reason }) =>
    ApplicationFailure.nonRetryable(`${file}: ${reason}`, 'export.refused'),
  );
  for (const run of runs) {
    try {
      ended.push(await carryOut(run, input, asOf));
    } catch (error) {
      if (isCancellation(error)) throw error;
      failures.push(failureOf(run, error));
    }
  }
  if (failures.length > 0) throw combinedFailure(failures);
  return { asOf: asOf.toISOString(), summary: summaryOf(input, ended), runs: ended };
}

/** Makes one failure that names at most {@link maxReasons} files. It has the type of the first failure. */
function combinedFailure(failures: readonly ApplicationFailure[]): ApplicationFailure {
  const [first] = failures;
  const messages = failures.slice(0, maxReasons).map(({ message }) => message);
  const more = failures.length - messages.length;
  if (more > 0) messages.push(`and ${formatCount(more, 'more file')}`);
  return ApplicationFailure.nonRetryable(messages.join('\n'), first?.type ?? 'run.failed');
}

/** Maximum number of failures in a message, because a folder can have many bad files. */
const maxReasons = 20;

/** Runs one export as a child workflow. An unfinished run of an earlier time with the same file goes on instead. */
async function carryOut(
  run: RunInput,
  { schedule, source }: ScheduledRunInput,
  asOf: Date,
): Promise<EndedRun> {
  const { runId, file } = run;
  const start = { runId, file, source, schedule, asOf };
  try {
    const facts = await executeChild(enrichmentRun, {
      workflowId: runId,
      args: [run],
      priority: { priorityKey: taskPriorities.nightly },
      parentClosePolicy: 'ABANDON',
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
      ...describeStart(start),
      ...(run.searchable && { typedSearchAttributes: [...startAttributes(start)] }),
    });
    return { runId, file, status: facts.status, calls: facts.calls, creditsSettled: facts.credits.settled };
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error;
    // A run of an earlier scheduled time with the same file is unfinished.
    return { runId, file, status: 'in progress since earlier', calls: 0, creditsSettled: '0' };
  }
}

/** Throws the cause of an ActivityFailure. A paused schedule shows the message, and only the cause has a useful one. */
function throwCause(error: unknown): never {
  throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
}

/** Recognises the error by its name, because its class is in a package that workflows do not import. */
function isAlreadyStarted(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError';
}

/** Returns the scheduled time, which Temporal sets. For a start by hand, it is the time of the start. */
function scheduledTime(): Date {
  const { typedSearchAttributes, startTime } = workflowInfo();
  return typedSearchAttributes.get({ name: 'TemporalScheduledStartTime', type: 'DATETIME' }) ?? startTime;
}

function failureOf(run: RunInput, error: unknown): ApplicationFailure {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  const message = cause instanceof Error ? cause.message : String(cause);
  return ApplicationFailure.nonRetryable(`${run.file} (${run.runId}): ${message}`, type ?? 'run.failed');
}

function summaryOf(input: ScheduledRunInput, runs: readonly EndedRun[]): string {
  if (runs.length === 0) return `no new file at ${input.export.from}: nothing was asked for`;
  return runs.map(({ file, status }) => `${file} ${status}`).join(', ');
}
