import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { PauseReason } from '../../contract/pause-reasons.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { isInProgress, statusText, type RunStatus } from '../../contract/run-transitions.ts';
import { deliveryReceivedSignalName } from '../../contract/temporal-names.ts';
import { isDatabaseUnreachable } from '../../db/postgres-errors.ts';
import { Problem } from '../../domain/problem.ts';
import { onInterruption } from '../../dev/interruption.ts';
import { readLateResultsStatus } from '../../late-results/sync-late-results.ts';
import { readRunFacts, readRunSpending, type RunSpending } from '../../runs/read-run-facts.ts';
import { getRun, setRunStatus, type RunRecord } from '../../runs/runs.ts';
import { findLostWorker, withAnswerDeadline } from '../session/live-workers.ts';
import type { Session } from '../session/session.ts';
import { keepProgressLine, showProgressLine, printProgress, printNotice } from '../terminal/output.ts';
import { findLostWorkflow, isWorking, readRunWait, type RunWait } from './run-status.ts';
import { formatCount, formatNumber } from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';

const pollMilliseconds = 250;
/** Polls of the database between two checks of the worker and the workflow. */
const pollsPerCheck = 8;
const longestWaitForCallsMilliseconds = 10_000;
const longestDatabaseOutageMilliseconds = 120_000;
const statusesThatEndTheWait: readonly RunStatus[] = ['finished', 'cancelled', 'failed', 'paused', 'planned'];

const plainLineEveryMilliseconds = 5_000;

/** What the progress line says in place of these statuses. */
const phases: Partial<Record<RunStatus, string>> = {
  ingesting: 'reading the file',
  planning: 'planning',
  running: 'enriching',
};

/** Formats the progress of a run. A narrow terminal cuts the end, so the least important part comes last. */
export function describeProgress(
  { status, plan }: Pick<RunRecord, 'status' | 'plan'>,
  money: Pick<RunSpending, 'people' | 'calls' | 'settled' | 'reserved'>,
  { reason, etaSeconds }: RunWait,
): string {
  const phase = phases[status] ?? statusText(status);
  if (status !== 'running' || !plan) return [`${phase} …`, reason].filter(Boolean).join('  ');
  const parts = [
    phase,
    `${formatNumber(money.people)}/${formatNumber(plan.people)}`,
    etaSeconds !== undefined && money.people < plan.people && `ETA ${formatElapsed(etaSeconds)}`,
    reason,
    formatCount(money.calls, 'call'),
    formatCount(money.settled, 'credit') +
      (money.reserved === '0' ? '' : `, ${formatNumber(money.reserved)} reserved`),
  ];
  return parts.filter(Boolean).join('  ');
}

/** Shows progress as a changing line on a terminal; in a log, as a line per change of status and every five seconds. */
function progressTeller(): (status: RunStatus, line: string) => void {
  let lastLineAt = Number.NEGATIVE_INFINITY;
  let lastStatus = '';
  return (status, line) => {
    if (process.stderr.isTTY) return showProgressLine(line);
    const now = performance.now();
    if (status === lastStatus && now - lastLineAt < plainLineEveryMilliseconds) return;
    lastLineAt = now;
    lastStatus = status;
    printProgress(line);
  };
}

/** Shows progress until the run ends, pauses or needs approval. @param onPlan called once, when the plan exists */
async function followRun(
  session: Session,
  handle: WorkflowHandle,
  signal: AbortSignal,
  onPlan?: (run: RunRecord) => void,
): Promise<void> {
  const runId = handle.workflowId;
  let isPlanned = false;
  const tellProgress = progressTeller();
  let withoutWorker: string | undefined;
  const isOver = async (poll: number): Promise<boolean> => {
    const run = await getRun(session.warehouse, runId);
    const ended = statusesThatEndTheWait.includes(run.status);
    if (run.plan && !isPlanned) {
      isPlanned = true;
      keepProgressLine();
      onPlan?.(run);
    }
    if (run.status === 'awaiting_approval') return true;
    if (ended && run.status === 'paused')
      await untilCallsAreRecorded(session, runId, longestWaitForCallsMilliseconds, signal);
    if (ended || signal.aborted) return true;
    const money = await readRunSpending(session.warehouse, runId);
    const wait = await readRunWait(session, run, money);
    const line = describeProgress(run, money, { ...wait, reason: withoutWorker ?? wait.reason });
    tellProgress(run.status, line);
    if (poll % pollsPerCheck !== 0) return false;
    const worker = await findLostWorker(session);
    withoutWorker = worker && `${worker.reason}: ${worker.next}`;
    const lost = await withAnswerDeadline(session, async () => {
      await notifyDelivery(session, handle);
      return findLostWorkflow(session, runId);
    });
    if (lost?.type === 'run.workflow-failing')
      throw new Problem(lost.type, lost.reason, { where: runId, next: lost.next });
    // The workflow was terminated, failed or lost, perhaps after it had set the run's last status.
    if (!lost || statusesThatEndTheWait.includes((await getRun(session.warehouse, runId)).status))
      return false;
    // `setRunStatus` leaves a run that is being cancelled: `enrich cancel` ends such a run without its workflow.
    await setRunStatus(session.warehouse, runId, 'paused', lost);
    return true;
  };
  try {
    for (let poll = 1; ; poll += 1) {
      if (await retriedWhileDatabaseIsAway(() => isOver(poll), signal)) return;
      await sleep(pollMilliseconds, undefined, { signal }).catch(() => {});
    }
  } finally {
    keepProgressLine();
  }
}

/** Retries while PostgreSQL is unreachable. A failover takes about a minute, and the run continues after it. */
async function retriedWhileDatabaseIsAway<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const until = performance.now() + longestDatabaseOutageMilliseconds;
  for (let isTold = false; ; isTold = true) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnreachable(error) || signal.aborted || performance.now() > until) throw error;
      if (!isTold) printProgress('the database does not answer; waiting for it');
      await sleep(1_000, undefined, { signal }).catch(() => {});
    }
  }
}

/** Waits until no call of a run is in flight. The wait has a limit, because calls of a lost worker stay in flight. */
export async function untilCallsAreRecorded(
  session: Session,
  runId: string,
  longestMilliseconds: number,
  signal?: AbortSignal,
): Promise<void> {
  const until = performance.now() + longestMilliseconds;
  while (performance.now() < until && signal?.aborted !== true) {
    if ((await readRunSpending(session.warehouse, runId)).inFlight === 0) return;
    await sleep(pollMilliseconds, undefined, { signal }).catch(() => {});
  }
}

/** Wakes the run for a delivery at once. Receivers wake runs less often, because Temporal Cloud bills signals. */
async function notifyDelivery(session: Session, handle: WorkflowHandle): Promise<void> {
  if (!session.stack.temporal.embedded) return;
  const { waiting } = await readLateResultsStatus(session.warehouse, handle.workflowId);
  if (waiting > 0) await handle.signal(deliveryReceivedSignalName).catch(() => {});
}

/** Lets Ctrl-C or SIGTERM end the wait. Call it first: a signal between start and call would leave the run calling. */
export function interruptSignalOfRun(session: Session, runId: string): AbortSignal {
  const interrupted = new AbortController();
  // The handler stays until the command ends: a second signal must not stop the database before the worker has drained.
  onInterruption((_signal, exitCode, repeated) => {
    if (repeated) {
      printNotice(`\nstopped at once; continue with: enrich resume ${runId}`);
      process.exit(exitCode);
    }
    printNotice(
      session.stack.temporal.embedded
        ? '\nstopping: no further call is sent; waiting for calls in flight\n' +
            '  a second Ctrl-C stops at once: the cost of these calls is then unknown and stays reserved'
        : '\nthe run continues on the workers',
    );
    interrupted.abort();
  });
  return interrupted.signal;
}

/** Waits for a run. A signal pauses a run of an embedded worker; on a server it continues. @param onPlan called once */
export async function waitForRun(
  session: Session,
  handle: WorkflowHandle,
  interrupted: AbortSignal,
  onPlan?: (run: RunRecord) => void,
): Promise<RunFacts> {
  const { warehouse } = session;
  const runId = handle.workflowId;
  await followRun(session, handle, interrupted, onPlan);
  if (!interrupted.aborted) return readRunFacts(warehouse, runId);
  if (session.stack.temporal.embedded) {
    // The embedded worker ends now. Unless the run is paused, another command's worker would call for it.
    const next = `enrich resume ${runId}, or the same command again`;
    const pause: PauseReason = { type: 'run.interrupted', reason: 'interrupted', next };
    if (isInProgress((await getRun(warehouse, runId)).status))
      await setRunStatus(warehouse, runId, 'paused', pause);
    await untilCallsAreRecorded(session, runId, session.config.service.callTimeoutSeconds * 1_000);
    return readRunFacts(warehouse, runId);
  }
  const facts = await readRunFacts(warehouse, runId);
  if (facts.reason_type !== null || !isWorking(facts)) return facts;
  // The exit code stays 3, as for a run that needs the operator; `reason_type` shows that this run continues.
  return {
    ...facts,
    reason_type: 'run.continues',
    reason: 'a signal ended the command; the run continues on the workers',
    next: `enrich resume ${runId} waits for the run again; enrich pause ${runId} pauses it`,
  };
}
