import type { WorkflowHandle } from '@temporalio/client';
import type { PauseReason } from '../../../contract/pause-reasons.ts';
import type { RunFacts } from '../../../contract/run-facts.ts';
import { isInProgress } from '../../../contract/run-statuses.ts';
import { onInterruption } from '../../../dev/interruption.ts';
import { readRunFacts } from '../../../runs/read-run-facts.ts';
import { getRun, setRunStatus } from '../../../runs/runs.ts';
import type { Session } from '../../session/session.ts';
import { tell } from '../../terminal/output.ts';
import { isWorking } from '../describe/present-status.ts';
import { followRun, untilCallsAreRecorded, warnWithoutWorker, type OnPlan } from './follow-run.ts';

/**
 * Lets a signal end the wait for a run. With embedded Temporal this process is also the worker: a signal lets calls in
 * flight end and pauses the run. With a Temporal server, a signal only ends the wait.
 *
 * A command calls this before it starts or resumes the run. Otherwise a signal in between ends the command as if there
 * were no run, and the run makes calls.
 */
export function interruptionOf(session: Session, runId: string): AbortSignal {
  const interrupted = new AbortController();
  // Stays until the command ends: a second signal must not stop the database while the worker still drains.
  onInterruption((_signal, exitCode, repeated) => {
    if (repeated) {
      tell(`\nstopped at once; continue with: enrich resume ${runId}`);
      if (session.stack.temporal.embedded)
        tell(
          'the embedded servers run on; the next command, such as enrich schedule list, stops them when it ends',
        );
      process.exit(exitCode);
    }
    tell(whatStopDoes(session));
    interrupted.abort();
  });
  return interrupted.signal;
}

/** Waits until a run has ended or needs a person, as `enrich run` and `enrich resume` do. */
export async function waitForRun(
  session: Session,
  handle: WorkflowHandle,
  { onPlan, interrupted = interruptionOf(session, handle.workflowId) }: WaitOptions = {},
): Promise<RunFacts> {
  const runId = handle.workflowId;
  await warnWithoutWorker(session);
  const worker = session.stack.temporal.embedded ? await session.work() : undefined;
  await followRun(session, handle, interrupted, onPlan);
  if (interrupted.aborted) {
    await leaveRun(session, runId);
    if (worker)
      await untilCallsAreRecorded(session, runId, session.config.service.callTimeoutSeconds * 1_000);
  }
  const facts = await readRunFacts(session.warehouse, runId);
  return interrupted.aborted && !session.stack.temporal.embedded ? continuing(facts) : facts;
}

interface WaitOptions {
  readonly onPlan?: OnPlan | undefined;
  /** As `interruptionOf` returns it; default: from now on. */
  readonly interrupted?: AbortSignal | undefined;
}

function whatStopDoes({ stack, config }: Session): string {
  if (!stack.temporal.embedded) return '\nthe run continues on the workers';
  const seconds = config.service.callTimeoutSeconds;
  return [
    `\nstopping: no further call is sent; waiting up to ${seconds} s for calls in flight`,
    '  a second Ctrl-C stops at once: the cost of these calls is then unknown and stays reserved',
  ].join('\n');
}

/**
 * Distinguishes, for programs, a run that continues on the workers from a run that needs a person: both commands end
 * with 3.
 */
function continuing(facts: RunFacts): RunFacts {
  if (facts.reason_type !== null || !isWorking(facts)) return facts;
  return {
    ...facts,
    reason_type: 'run.continues',
    reason: 'a signal ended the command; the run continues on the workers',
    next: `enrich resume ${facts.run_id} waits for the run again; enrich pause ${facts.run_id} pauses it`,
  };
}

/**
 * An embedded run has no worker after its command ends, so the run is paused: the worker of another command would send
 * its calls. On a server the workers continue.
 */
export async function leaveRun(session: Session, runId: string): Promise<void> {
  if (!session.stack.temporal.embedded) return;
  const { status } = await getRun(session.warehouse, runId);
  const next = `enrich resume ${runId}, or the same command again`;
  if (isInProgress(status)) {
    await setRunStatus(session.warehouse, runId, 'paused', {
      type: 'run.interrupted',
      reason: 'interrupted',
      next,
    } satisfies PauseReason);
  } else {
    tell(`the run was interrupted (${status}); to continue it: ${next}`);
  }
}
