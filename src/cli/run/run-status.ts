import { serviceName } from '../../config/settings.ts';
import { peoplePerCall } from '../../contract/batch-sizes.ts';
import { waitsForBudget, type PauseReason } from '../../contract/pause-reasons.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { isInProgress, statusText } from '../../contract/run-statuses.ts';
import { Problem } from '../../domain/problem.ts';
import { estimateSeconds } from '../../domain/rates/eta.ts';
import { parseRateLimits } from '../../domain/rates/rate-limit.ts';
import { counted, minuteOf } from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { readLateResultsStatus } from '../../late-results/late-results-status.ts';
import { bulkMatchScope, freeSlots, freeSlotsPerWindow } from '../../ledger/rate-windows.ts';
import { reservedSlots } from '../../ledger/waiting-batches.ts';
import { readContestedRows, readLostContacts } from '../../report/figures.ts';
import { readRunMoney, type RunMoney } from '../../runs/read-run-facts.ts';
import { getRun, listRuns, type RunRecord } from '../../runs/runs.ts';
import { describeTemporalFailure, isWorkflowGone } from '../../temporal/connection.ts';
import { readTaskFailure, readWorkflowEnd } from '../../temporal/failing-workflow.ts';
import { hasWorker } from '../session/live-workers.ts';
import type { Session } from '../session/session.ts';
import { printFacts, tell } from '../terminal/output.ts';
import { describeContestedRows, describeLostContacts, describeRun, exitCodeOf } from './describe-run.ts';

/** Help of the argument that names a run. */
export const anyRun =
  'id of a run, as enrich status shows it, its last six characters, or latest: the newest run';

/** Finds the run that a command continues or ends, and prints which run "latest" is. @throws Problem `run.unknown` */
export async function namedRun({ warehouse }: Session, name: string): Promise<RunRecord> {
  const run = await getRun(warehouse, name);
  if (name === 'latest') tell(`latest is ${run.runId} (${run.fileName}): ${statusText(run.status)}`);
  return run;
}

/** A run as commands show it. */
export interface RunView {
  readonly facts: RunFacts;
  /** As the operator sees it: `interrupted` if the run should continue and nothing carries it out. */
  readonly status: string;
  /** Lines for the operator below the figures. */
  readonly notes: readonly string[];
}

/** Reads what commands show of a run: `facts`, corrected by what only Temporal and this machine know, and notes. */
export async function readRunView(session: Session, facts: RunFacts): Promise<RunView> {
  const { database } = session.warehouse;
  const shown = await correctedFacts(session, facts);
  return {
    ...shown,
    notes: [
      ...describeContestedRows(facts, await readContestedRows(database, facts.run_id)),
      ...describeLostContacts(facts, await readLostContacts(database, facts.run_id)),
      ...(shown.status === facts.status ? await describeWait(session, facts) : []),
    ],
  };
}

/** As `readRunView`, without its notes. */
export async function correctedFacts(
  session: Session,
  facts: RunFacts,
): Promise<Pick<RunView, 'facts' | 'status'>> {
  const present = await presentReason(session, facts);
  if (present === undefined) return { facts, status: facts.status };
  const isInterrupted = present.reason_type !== facts.reason_type && present.reason_type !== null;
  return { facts: { ...facts, ...present }, status: isInterrupted ? 'interrupted' : facts.status };
}

/** Prints the result of a run, and sets the exit code. */
export function reportRun(view: RunView, json: boolean): void {
  printRun(view, json);
  process.exitCode = exitCodeOf(view.facts);
}

/** Prints a run. With `json`, the notes go to standard error before the object, which stays the last line. */
export function printRun(view: RunView, json: boolean): void {
  if (json) view.notes.forEach(tell);
  printFacts<'run'>(json, view.facts, [describeRun(view), ...view.notes].join('\n'));
}

/** Whether a run continues as soon as it has a worker. */
export function isWorking({ status }: Pick<RunFacts, 'status'>): boolean {
  return isInProgress(status) || status === 'cancelling';
}

/** Why a run does not continue, and the next step. */
type Reason = Pick<RunFacts, 'reason_type' | 'reason' | 'next'>;

/**
 * Finds why a run does not continue although its status says that it does: it has no worker or no workflow. A killed
 * command or worker, or a terminated workflow, cannot change the status.
 *
 * @returns undefined: the stored reason is right
 */
async function presentReason(session: Session, facts: RunFacts): Promise<Reason | undefined> {
  const isBudgetPause = facts.status === 'paused' && facts.reason_type === 'budget.empty';
  if (!isWorking(facts) && !isBudgetPause) return undefined;
  const worker = await hasWorker(session).catch((error: unknown) => withoutAnswer(session, error));
  if (typeof worker !== 'boolean') return isBudgetPause ? undefined : worker;
  const lost = worker && session.config.temporalAddress !== undefined && (await lostWorkflow(session, facts));
  if (lost) return lost;
  if (worker) return undefined;
  if (!isBudgetPause) return withoutWorker(session, facts);
  return { ...facts, next: `${facts.next ?? ''}, then enrich resume ${facts.run_id}: no worker is running` };
}

function withoutAnswer({ stack }: Session, error: unknown): Reason {
  const problem = describeTemporalFailure(error, stack.temporal);
  if (!(problem instanceof Problem)) throw error;
  const reason = `Temporal cannot tell whether the run has a worker: ${problem.message}`;
  return { reason_type: null, reason, next: problem.next };
}

async function withoutWorker({ config, warehouse }: Session, { run_id: runId }: RunFacts): Promise<Reason> {
  const { inFlight } = await readRunMoney(warehouse, runId);
  const lostCalls =
    inFlight === 0
      ? ''
      : `; ${counted(inFlight, 'call')} had no recorded answer: the credits stay reserved, and become unknown when ` +
        'the run continues';
  return {
    reason_type: 'run.no-worker',
    reason: `no worker carries out the run, and no call is sent until it continues${lostCalls}`,
    next: config.temporalAddress === undefined ? `enrich resume ${runId}` : 'start a worker: enrich worker',
  };
}

/** Why a run whose workflow has ended, or cannot be carried out, does not continue. */
async function lostWorkflow(
  session: Session,
  { run_id: runId, status }: RunFacts,
): Promise<Reason | undefined> {
  const client = await session.temporal();
  const end = await readWorkflowEnd(client.workflow.getHandle(runId)).catch(() => undefined);
  // A scheduled run gets its workflow only after the run before. A run may have ended since its status was read.
  const isLost = async (): Promise<boolean> =>
    status !== 'ingesting' && (await getRun(session.warehouse, runId)).status === status;
  if (end !== undefined && (await isLost())) {
    const { type, reason, next } = workflowEnded(runId, end);
    return { reason_type: type, reason, next: status === 'cancelling' ? `enrich cancel ${runId}` : next };
  }
  const failure = await readTaskFailure(client, runId).catch(() => undefined);
  if (failure === undefined) return undefined;
  const { type, message, next } = workflowFailing(runId, failure);
  return { reason_type: type, reason: message, next };
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

/** Lines that say why a running run makes no calls. */
export async function describeWait(
  session: Pick<Session, 'config' | 'warehouse'>,
  facts: RunFacts,
): Promise<string[]> {
  if (facts.status !== 'running') return [];
  const { warehouse } = session;
  const run = await getRun(warehouse, facts.run_id);
  const { reason } = await readRunWait(session, run, await readRunMoney(warehouse, facts.run_id));
  const batches = await reservedSlots(warehouse.database, run.options.priority);
  return [
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...(batches === 0
      ? []
      : [
          `  runs of a higher priority have ${counted(batches, 'batch', 'batches')} waiting for a call: while the ` +
            'rate windows are full, this one makes none',
        ]),
  ];
}

/** Why a run makes no call now, and how long its calls take. */
interface RunWait {
  readonly reason?: string;
  readonly etaSeconds?: number;
}

/** Reads what a run waits for: a rate window that is full, a service without calls left, or late results. */
export async function readRunWait(
  { config, warehouse }: Pick<Session, 'config' | 'warehouse'>,
  { runId, status, plan }: RunRecord,
  { people: asked, inFlight }: Pick<RunMoney, 'people' | 'inFlight'>,
): Promise<RunWait> {
  if (status !== 'running') return {};
  const left = (plan?.people ?? 0) - asked;
  if (plan && left > 0) {
    const { database } = warehouse;
    const of = { service: serviceName(config), scope: bulkMatchScope };
    // The workers that call use the limits in the plan; the limits in the settings of a command can differ.
    const limits = parseRateLimits(plan.ownRateLimits);
    const windows = await freeSlotsPerWindow(database, of, limits);
    const pace = { secondsPerCall: 1, concurrency: config.callConcurrency };
    const etaSeconds = estimateSeconds(Math.ceil(left / peoplePerCall), windows, pace);
    const { wait } = await freeSlots(database, of, limits);
    if (wait && wait.milliseconds >= 1_000)
      return { reason: `waiting ${formatElapsed(wait.milliseconds / 1_000)}: ${wait.reason}`, etaSeconds };
    if (inFlight > 0) return { etaSeconds };
  }
  const { awaited, until } = await readLateResultsStatus(warehouse, runId);
  if (awaited === 0 || until === null) return {};
  return { reason: `late results of ${counted(awaited, 'call')} are awaited until ${minuteOf(until)} UTC` };
}

const newestRuns = 100;

/**
 * Says which other runs the worker of this command continues as well, and may spend for. Only an embedded worker
 * belongs to the command.
 */
export async function tellOtherRuns({ stack, warehouse }: Session, runId: string): Promise<void> {
  if (!stack.temporal.embedded) return;
  for (const run of await listRuns(warehouse, newestRuns)) {
    const continues = isWorking(run) || (run.status === 'paused' && waitsForBudget(run.pauseReason));
    if (continues && run.runId !== runId)
      tell(
        `note: the worker of this command also continues ${run.runId} (${run.fileName}), and spends for it`,
      );
  }
}

/**
 * Says where to watch a run in Temporal's UI. The embedded server keeps its ports, so the address stays valid for
 * `enrich dev`.
 *
 * @returns undefined without a known UI, without an answer of Temporal, or without a workflow of the run
 */
export async function describeUiAddress(session: Session, runId: string): Promise<string | undefined> {
  const { uiUrl, namespace, embedded } = session.stack.temporal;
  if (uiUrl === undefined) return undefined;
  try {
    const { workflow } = await session.temporal();
    // Without the id of an execution the UI opens the history.
    const { runId: executionId } = await workflow.getHandle(runId).describe();
    const address = `${uiUrl}/namespaces/${namespace}/workflows/${runId}/${executionId}/user-metadata`;
    return `${embedded ? 'while enrich run or enrich dev runs, ' : ''}watch it: ${address}`;
  } catch (error) {
    const isProblem = describeTemporalFailure(error, session.stack.temporal) instanceof Problem;
    if (isWorkflowGone(error) || isProblem) return undefined;
    throw error;
  }
}
