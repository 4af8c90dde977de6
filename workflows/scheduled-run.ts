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
import { describeStart, longestSummary, startAttributes } from '../src/contract/workflow-details.ts';
import { counted } from '../src/domain/text/format.ts';
import { controlActivities } from './control-activities.ts';
import { enrichmentRun } from './enrichment-run.ts';

const { beginScheduledRuns } = controlActivities({
  // The files are read for their hashes.
  startToCloseTimeout: '2 hours',
});

type EndedRun = ScheduledRunResult['runs'][number];

/**
 * One scheduled time: begins the runs of the exports that are there, one after another. Each run is a child workflow
 * with the run's id. It is steered like any other run, and continues if this workflow is terminated.
 *
 * A run that waits for a person keeps this workflow open, so that the schedule's overlap policy applies. This workflow
 * fails after its last run if a run has failed, so that a schedule with `--pause-on-failure` pauses.
 */
export async function scheduledRun(input: ScheduledRunInput): Promise<ScheduledRunResult> {
  const asOf = scheduledTime();
  const { runs, refused } = await beginScheduledRuns
    .executeWithOptions({ summary: `look for ${input.export.from}`.slice(0, longestSummary) }, [
      { ...input, asOf: asOf.toISOString() },
    ])
    .catch(sayingWhy);
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
  if (failures.length > 0) throw together(failures);
  return { asOf: asOf.toISOString(), summary: summaryOf(input, ended), runs: ended };
}

/** One failure that names every file, with the type of the first. */
function together(failures: readonly ApplicationFailure[]): ApplicationFailure {
  const [first] = failures;
  const messages = failures.slice(0, mostReasons).map(({ message }) => message);
  const more = failures.length - messages.length;
  if (more > 0) messages.push(`and ${counted(more, 'more file')}`);
  return ApplicationFailure.nonRetryable(messages.join('\n'), first?.type ?? 'run.failed');
}

/** Maximum length: the failure names every bad file of a folder. */
const mostReasons = 20;

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
    // An unfinished run of an earlier scheduled time has the same file.
    return { runId, file, status: 'in progress since earlier', calls: 0, creditsSettled: '0' };
  }
}

/** A paused schedule shows the message of the failure. An ActivityFailure has no useful message; its cause does. */
function sayingWhy(error: unknown): never {
  throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
}

/** Its class is in a package that workflows do not import. */
function isAlreadyStarted(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError';
}

/** The scheduled time, which Temporal sets; the present for a start by hand. */
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
