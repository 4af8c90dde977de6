import type { Config } from '../../../config/settings.ts';
import type { RunFacts } from '../../../contract/run-facts.ts';
import { isInProgress } from '../../../contract/run-statuses.ts';
import { othersPresent } from '../../../dev/presence.ts';
import { readClock } from '../../../db/expressions.ts';
import { counted } from '../../../domain/text/counted.ts';
import { Problem } from '../../../domain/problem.ts';
import { hasCreditsAgain } from '../../../runs/resolve-budget-exhaustion.ts';
import { reservedSlots } from '../../../ledger/waiting-batches.ts';
import { readRunMoney } from '../../../runs/read-run-facts.ts';
import { getRun } from '../../../runs/runs.ts';
import type { Session } from '../../session/session.ts';
import { readCallWait, readLateWait } from '../follow/read-call-wait.ts';
import { describeTemporalFailure } from '../../../temporal/connection.ts';
import { workflowEnded, workflowFailing } from '../steer/send-update.ts';

/** Whether a run continues as soon as it has a worker. */
export function isWorking({ status }: RunFacts): boolean {
  return isInProgress(status) || status === 'cancelling';
}

/** Status that a person sees for a run that should continue and has no worker. */
export const interrupted = 'interrupted';

/** Whether a command on this machine has a worker for the embedded Temporal. */
export function isCommandPresent({ embedded }: Config): boolean {
  return othersPresent(embedded.directories.workers).length > 0;
}

/** Why a run does not continue, and the next step. */
type Reason = Pick<RunFacts, 'reason_type' | 'reason' | 'next'>;

interface Interrupted {
  /** By the id of the run. */
  readonly reasons: ReadonlyMap<string, Reason>;
  /** For a person. */
  readonly lines: readonly string[];
}

/**
 * Finds the runs that should continue and have no worker, or no workflow. Their status does not show that: a killed
 * command or worker, or a terminated workflow, cannot change it.
 */
export async function findInterrupted(session: Session, runs: readonly RunFacts[]): Promise<Interrupted> {
  const runIds = runs.filter(isWorking).map(({ run_id: runId }) => runId);
  const { config } = session;
  if (config.temporalAddress === undefined) {
    if (isCommandPresent(config)) return { reasons: new Map(), lines: [] };
    const paused = runs.filter(({ status }) => status === 'paused');
    const lines = await Promise.all([
      ...runIds.map((runId) => describeInterrupted(session, runId)),
      ...paused.map(({ run_id: runId }) => describeLostCalls(session, runId)),
    ]);
    return { reasons: withoutWorker(runIds, (runId) => `enrich resume ${runId}`), lines: lines.flat() };
  }
  const continuing = runs.filter((run) => isWorking(run) || isWaitingForBudget(run));
  if (continuing.length === 0) return { reasons: new Map(), lines: [] };
  try {
    if (await hasWorker(session)) return await findLostWorkflows(session, continuing);
    if (runIds.length === 0) return { reasons: new Map(), lines: [] };
    return {
      reasons: withoutWorker(runIds, () => 'start a worker: enrich worker'),
      lines: [
        `  no worker polls ${config.temporalAddress}, and ${runIds.join(', ')} waits for one`,
        '  next: start one with: enrich worker',
      ],
    };
  } catch (error) {
    const problem = describeTemporalFailure(error, session.stack.temporal);
    if (!(problem instanceof Problem)) throw error;
    return {
      reasons: new Map(),
      lines: [
        `  Temporal cannot tell whether the run has a worker: ${problem.message}`,
        `  next: ${problem.next}`,
      ],
    };
  }
}

/** A run that waits for a budget continues by itself, but not without its workflow. */
function isWaitingForBudget({ status, reason_type: type }: RunFacts): boolean {
  return status === 'paused' && type === 'budget.empty';
}

function withoutWorker(runIds: readonly string[], next: (runId: string) => string): Map<string, Reason> {
  const reason = 'no worker carries out the run, and no call is sent until it continues';
  return new Map(runIds.map((runId) => [runId, { reason_type: 'run.no-worker', reason, next: next(runId) }]));
}

/**
 * Finds the runs that have lost their workflows, and names the runs whose workflows the workers cannot carry out, such
 * as without the key of the payloads.
 */
async function findLostWorkflows(session: Session, runs: readonly RunFacts[]): Promise<Interrupted> {
  const { readTaskFailure, readWorkflowEnd } = await import('../../../temporal/failing-workflow.ts');
  const client = await session.temporal();
  const reasons = new Map<string, Reason>();
  const lines = await Promise.all(
    runs.map(async ({ run_id: runId, status }) => {
      const end = await readWorkflowEnd(client.workflow.getHandle(runId)).catch(() => undefined);
      // A scheduled run gets its workflow only after the run before. A run may have ended since its status was read.
      const isLost = async (): Promise<boolean> =>
        status !== 'ingesting' && (await getRun(session.warehouse, runId)).status === status;
      if (end !== undefined && (await isLost())) {
        const { type, reason, next: toContinue } = workflowEnded(runId, end);
        const next = status === 'cancelling' ? `enrich cancel ${runId}` : toContinue;
        reasons.set(runId, { reason_type: type, reason, next });
        return [`  ${runId}: ${reason}`, `  next: ${next}`];
      }
      const failure = await readTaskFailure(client, runId).catch(() => undefined);
      if (failure === undefined) return [];
      const { message, next } = workflowFailing(runId, failure);
      return [`  ${runId}: ${message}`, `  next: ${next}`];
    }),
  );
  return { reasons, lines: lines.flat() };
}

async function describeInterrupted(session: Session, runId: string): Promise<string[]> {
  return [
    `  ${runId} has no worker: its command was killed, or a schedule began it and the command with the worker has`,
    '  ended; no call is sent until the run continues',
    ...(await describeLostCalls(session, runId)),
    `  next: enrich resume ${runId}, or the same command again; both continue where the run stopped`,
  ];
}

/** Explains calls that were in flight when the last command was killed: resuming the run makes their cost unknown. */
async function describeLostCalls({ warehouse }: Session, runId: string): Promise<string[]> {
  const { inFlight } = await readRunMoney(warehouse, runId);
  if (inFlight === 0) return [];
  return [
    `  ${counted(inFlight, 'call')} of ${runId} had no recorded answer: the credits stay reserved, and become`,
    '  unknown when the run continues',
  ];
}

/**
 * Explains why a running run makes no calls while runs of a higher priority wait for the rate windows.
 *
 * @returns lines for a person; none if no such run waits
 */
export async function describePreempted({ warehouse }: Session, facts: RunFacts): Promise<string[]> {
  if (facts.status !== 'running') return [];
  const { priority } = (await getRun(warehouse, facts.run_id)).options;
  const batches = await reservedSlots(warehouse.database, priority);
  if (batches === 0) return [];
  return [
    `  runs of a higher priority have ${counted(batches, 'batch', 'batches')} waiting for a call: while the ` +
      'rate windows are full, this one makes none',
  ];
}

/** Says why a run makes no call now: a rate window is full, the service has no calls left, or results are late. */
export async function describeCallWait(session: Session, facts: RunFacts): Promise<string[]> {
  if (facts.status !== 'running') return [];
  const run = await getRun(session.warehouse, facts.run_id);
  const { people, inFlight } = await readRunMoney(session.warehouse, facts.run_id);
  const left = (run.plan?.people ?? 0) - people;
  const { waiting } = left > 0 ? await readCallWait(session, run, left) : {};
  if (waiting !== undefined) return [`  ${waiting}`];
  const awaited = left > 0 && inFlight > 0 ? undefined : await readLateWait(session, facts.run_id);
  const calls = left > 0 ? 'no call is in flight' : 'all calls are made';
  return awaited === undefined ? [] : [`  ${calls}; late results of ${awaited}`];
}

/** Whether a run has a worker, so that it continues without a command. */
export async function hasWorker(session: Session): Promise<boolean> {
  if (session.config.temporalAddress === undefined) return isCommandPresent(session.config);
  const { isWorkerThere } = await import('../../../temporal/connection.ts');
  return isWorkerThere(await session.temporal(), await readClock(session.warehouse.database));
}

/**
 * Replaces the stored reason of a pause for a budget that has credits again. The reason is out of date until a worker
 * continues the run.
 */
export async function withPresentReason(session: Session, facts: RunFacts): Promise<RunFacts> {
  if (facts.status !== 'paused') return facts;
  const { warehouse, config } = session;
  const run = await getRun(warehouse, facts.run_id);
  if (!(await hasCreditsAgain({ warehouse, budgets: config.budgets.perPeriod }, run))) return facts;
  return {
    ...facts,
    reason: 'a budget was empty, and has credits again: the run has not continued yet',
    next: (await hasWorker(session).catch(() => false))
      ? `nothing: a worker continues the run within an hour; to continue at once: enrich resume ${facts.run_id}`
      : `enrich resume ${facts.run_id}`,
  };
}
