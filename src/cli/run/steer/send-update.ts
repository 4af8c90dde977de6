import type { PauseReason } from '../../../contract/pause-reasons.ts';
import { Problem, exitCodes } from '../../../domain/problem.ts';
import { isUpdateRefused, isWorkflowGone } from '../../../temporal/connection.ts';
import { isWorkflowTaskFailing } from '../../../temporal/failing-workflow.ts';
import type { Session } from '../../session/session.ts';
import { tell } from '../../terminal/output.ts';

/**
 * Sends an update to the workflow of a run.
 *
 * @returns false where the run has no workflow (any more)
 * @throws Problem `run.not-steerable` where the workflow refuses it
 */
export async function sendUpdate(
  session: Session,
  runId: string,
  update: 'pause' | 'cancel' | 'approve' | 'changePriority' | 'skipPage',
  args: [string | number, ...(string | number)[]],
): Promise<boolean> {
  const client = await session.temporal();
  try {
    await client.workflow.getHandle(runId).executeUpdate(update, { args });
    return true;
  } catch (error) {
    if (isWorkflowGone(error)) return false;
    const known = knownFailure(error, runId);
    if (known) throw known;
    const cause = (error as { cause?: Error }).cause;
    throw new Problem('run.not-steerable', cause?.message ?? (error as Error).message, {
      where: runId,
      next: `see the status of the run: enrich status ${runId}`,
      // The run is in a state without this step: repeating the command does not help.
      exitCode: isUpdateRefused(error) ? exitCodes.usage : exitCodes.failed,
      cause: error,
    });
  }
}

/** A worker answers within this time. */
const toldAfterMilliseconds = 3_000;

/** Says on a server that an update waits for a worker: a lost worker looks alive to Temporal for a minute. */
export async function tellingWait<Result>(
  session: Session,
  text: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (session.stack.temporal.embedded) return work();
  const timer = setTimeout(() => tell(text), toldAfterMilliseconds);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

const keyCheckMilliseconds = 5_000;

/**
 * Refuses before anything changes if this command cannot decrypt the payloads of a run: an update would change the run,
 * and its answer could not be read.
 *
 * @throws Problem `codec.*`
 */
export async function requireKeys(session: Session, runId: string): Promise<void> {
  try {
    const client = await session.temporal();
    const { staticSummary } = await client.withDeadline(Date.now() + keyCheckMilliseconds, () =>
      client.workflow.getHandle(runId).describe(),
    );
    await staticSummary();
  } catch (error) {
    // The command itself finds out whether Temporal is away or the workflow is gone.
    if (isCodecProblem(error)) throw error;
  }
}

/** What is known about a failure of an update that is no decision of the workflow. */
export function knownFailure(error: unknown, runId: string): Problem | undefined {
  const { cause } = error as { cause?: unknown };
  const codecProblem = [error, cause].find(isCodecProblem);
  if (codecProblem) return codecProblem;
  if (!isWorkflowTaskFailing(error)) return undefined;
  return workflowFailing(runId, undefined, error);
}

/** @param reason the failure of the workflow at the workers; undefined or empty: only their log has the reason */
export function workflowFailing(runId: string, reason?: string, cause?: unknown): Problem {
  const what = 'the workers cannot read or carry out the workflow of this run';
  return new Problem('run.workflow-failing', reason ? `${what}: ${reason}` : what, {
    where: runId,
    next: reason?.startsWith('BadSearchAttributes')
      ? 'wait: the workers add missing search attributes within ten minutes, and Temporal retries the workflow; if ' +
        'the server refuses, an administrator adds them with temporal operator search-attribute create'
      : 'set TEMPORAL_CODEC_KEYS to the keys of the workers, or unset it if the workers have none; if the keys are ' +
        'the same, look at the log of the workers; Temporal retries the workflow within ten minutes: then repeat ' +
        'the command',
    cause,
  });
}

/** The pause of a run that has lost its workflow. */
export function workflowEnded(runId: string, reason: string): PauseReason {
  return { type: 'workflow.ended', reason, next: `enrich resume ${runId}` };
}

function isCodecProblem(error: unknown): error is Problem {
  return error instanceof Problem && error.type.startsWith('codec.');
}
