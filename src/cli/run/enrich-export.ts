import { describeServiceStatus, readServiceStatus } from '../../calls/service-status.ts';
import { namesService, serviceName } from '../../config/settings.ts';
import { isQualityGate } from '../../contract/pause-reasons.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { statusText } from '../../contract/run-transitions.ts';
import { lateKindsRequestedBy } from '../../domain/late-results/delivery-kinds.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { sandboxServiceName, type RunOptions } from '../../domain/runs/run-options.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import {
  approveAutomatically,
  withdrawUnreadApproval,
  getRun,
  listCallingRuns,
  setRunStatus,
  fileNameWithoutPersonalData,
  type RunRecord,
} from '../../runs/runs.ts';
import { findOrBeginRun } from '../../runs/begin-run.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { requireNamespace } from '../../temporal/connection.ts';
import { webhookUrlOf } from '../session/servers.ts';
import { warnAboutWorkers } from '../session/live-workers.ts';
import type { Session } from '../session/session.ts';
import { refuseMixedWarehouse, withSessionClient } from '../session/with-service.ts';
import { askYesOrNo } from '../terminal/confirm.ts';
import { printProgress, printNotice } from '../terminal/output.ts';
import { approvalQuestion, describeMapping, describePlan } from './describe-plan.ts';
import { interruptSignalOfRun, waitForRun } from './follow-run.ts';
import { ingestInThisProcess } from './plan-export.ts';
import type { SpecifiedRun } from './run-spec.ts';
import { describeUiAddress, notApprovedReason } from './run-status.ts';
import { cancelRun, resumeRun } from './steer-run.ts';

/** Callbacks for a process that starts several runs, such as the MCP server. */
interface Background {
  /** Ends the wait for this run. Without `Background`, Ctrl-C or SIGTERM ends the wait. */
  readonly interrupted: AbortSignal;
  /** Gets the id of the run as soon as its workflow has started. */
  readonly onStart: (runId: string) => void;
}

/**
 * Begins or continues the run of an export, and waits until it ends or needs the operator.
 *
 * @param asks true: the operator approves the plan in the terminal; false: the plan is approved unless it breaks an
 *   expectation
 */
export async function enrichExport(
  session: Session,
  spec: SpecifiedRun,
  asks: boolean,
  background?: Background,
): Promise<RunFacts> {
  const { warehouse } = session;
  await requireComponents(session, spec);
  const { run: begun, found } = await findOrBeginRun(warehouse, spec);
  const { runId } = begun;
  const interrupted = background?.interrupted ?? interruptSignalOfRun(session, runId);
  if (asks) await withdrawUnreadApproval(warehouse, runId);
  const run = await getRun(warehouse, runId);
  requirePlan(run, spec.expectedPlanHash);
  printProgress(
    found
      ? `continuing ${runId} with its own options, and the quality gates of this command`
      : `run ${runId}`,
  );
  // Scripts repeat commands, so a repeated command does not resume a run that a quality gate or the operator paused.
  if (waitsForOperator(run, asks)) return readRunFacts(warehouse, runId);
  if (parseAddress(run.filePath, '/').kind !== 'file') await stageHere(session, run, spec.fetched);
  const isDecided = !asks || run.isApproved;
  if (isDecided && (await approveAutomatically(warehouse, run))) return readRunFacts(warehouse, runId);
  const handle = await resumeRun(session, run, isDecided);
  background?.onStart(runId);
  const uiAddress = describeUiAddress(session, runId);
  if (uiAddress !== undefined) printProgress(uiAddress);
  // The embedded worker carries out every run of the warehouse that makes calls, not only this one.
  for (const other of session.stack.temporal.embedded ? await listCallingRuns(warehouse) : [])
    if (other.runId !== runId)
      printProgress(
        `note: this command also continues ${fileNameWithoutPersonalData(other)}, run ${other.runId}`,
      );
  const onPlan = asks ? undefined : (planned: RunRecord) => tellPlan(planned, run.planHash !== null);
  const facts = await waitForRun(session, handle, interrupted, onPlan);
  if (facts.status !== 'awaiting_approval' || interrupted.aborted) return facts;
  const planned = await getRun(warehouse, runId);
  tellPlan(planned, false, printNotice);
  return decide(session, planned, interrupted);
}

/** Shows the plan of a run that awaits approval, and waits for the run. @param asks false approves without asking */
export async function approvePlan(session: Session, run: RunRecord, asks: boolean): Promise<RunFacts> {
  const { runId, status } = run;
  if (status !== 'awaiting_approval' || !run.plan)
    throw new UsageProblem('run.not-steerable', `no plan awaits approval: the run is ${statusText(status)}`, {
      where: runId,
      next: status === 'paused' ? `enrich resume ${runId}` : `enrich status ${runId}`,
    });
  await checkService(session, run.options);
  tellPlan(run, true, asks ? printNotice : printProgress);
  const interrupted = interruptSignalOfRun(session, runId);
  if (asks) return decide(session, run, interrupted);
  return waitForRun(session, await resumeRun(session, run, true), interrupted);
}

/** Asks whether to run the plan. No cancels the run; without an answer (Ctrl-C) it stays awaiting approval. */
async function decide(session: Session, run: RunRecord, interrupted: AbortSignal): Promise<RunFacts> {
  const answer = await askYesOrNo(approvalQuestion(run.plan!), interrupted);
  // `resumeRun` also starts the workflow again if it was lost while the operator read the plan.
  if (answer === true) return waitForRun(session, await resumeRun(session, run, true), interrupted);
  if (answer === false) await cancelRun(session, run, notApprovedReason);
  return readRunFacts(session.warehouse, run.runId);
}

/** Prints columns and plan. @param isOld true if an earlier command made the plan */
function tellPlan(run: RunRecord, isOld: boolean, say = printProgress): void {
  say(describeMapping(run));
  say(describePlan(run.plan!, run.options, isOld ? run.createdAt : undefined));
}

/** Checks all components before a run is stored. If one were missing, the run would stay `ingesting` forever. */
async function requireComponents(session: Session, spec: SpecifiedRun): Promise<void> {
  if (namesService(session.config)) await refuseMixedWarehouse(session);
  await checkService(session, spec.options);
  await requireNamespace(await session.temporal(), session.stack.temporal);
  await warnAboutWorkers(session);
  // The worker and its receiver start now, so that a port in use is found before the run begins.
  if (session.stack.temporal.embedded) await session.work();
}

/** Refuses an unfinished run with another plan than `--plan HASH`. */
function requirePlan({ runId, planHash }: RunRecord, expected: string | null): void {
  if (planHash === null || expected === null || planHash === expected) return;
  throw new UsageProblem('plan.changed', `an unfinished run of this export has another plan: ${planHash}`, {
    where: runId,
    next: `enrich resume ${runId} continues with that plan; or enrich cancel ${runId}, then run the command again`,
  });
}

/** Stages the downloaded export in this process, so that workers need neither the file nor its credentials. */
async function stageHere(session: Session, run: RunRecord, fetched: string | undefined): Promise<void> {
  await ingestInThisProcess(session, run.runId, fetched).catch(async (error: unknown) => {
    // Without the database, the run cannot be marked as failed, and the export may be good.
    if (error instanceof Problem && !error.type.startsWith('database.')) {
      const { type, sentence: reason, next } = error;
      await setRunStatus(session.warehouse, run.runId, 'failed', { type, reason, next });
    }
    throw error;
  });
}

/**
 * True if a repeated command must not continue this run: a quality gate has paused it, or the operator has. If the
 * command asks about a plan that is not approved, it may continue a run that the operator paused.
 */
export function waitsForOperator({ status, pauseReason, isApproved }: RunRecord, asks: boolean): boolean {
  if (status !== 'paused' || pauseReason === null) return false;
  return isQualityGate(pauseReason.type) || ((isApproved || !asks) && pauseReason.type === 'run.paused');
}

/** Checks the service before a run spends. If only the workers' settings name the service, the workers check it. */
export async function checkService(session: Session, asked: RunOptions): Promise<void> {
  const { config, stack } = session;
  if (!namesService(config)) return;
  // Only an embedded worker depends on this command's receiver: without a URL for webhooks, the run polls.
  const polls =
    stack.temporal.embedded &&
    lateKindsRequestedBy(asked).length > 0 &&
    webhookUrlOf(config, stack.service.baseUrl, { port: 0 }) === undefined;
  const status = await withSessionClient(session, (dependencies) =>
    readServiceStatus(dependencies, { polls }),
  );
  // The user and the limits of the sandbox are invented.
  if (serviceName(config) !== sandboxServiceName)
    for (const line of describeServiceStatus(status)) printProgress(line);
}
