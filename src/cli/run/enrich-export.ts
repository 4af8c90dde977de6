import type { WorkflowHandle } from '@temporalio/client';
import { describeServiceStatus, readServiceStatus } from '../../calls/service-status.ts';
import { knowsService, serviceName } from '../../config/settings.ts';
import { isQualityGate, type PauseReasonType } from '../../contract/pause-reasons.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { statusText } from '../../contract/run-statuses.ts';
import { holdInterruption, onFirstInterruption } from '../../dev/interruption.ts';
import { lateKindsOf } from '../../domain/late-results/delivery-kinds.ts';
import { Problem, UsageProblem, exitCodes } from '../../domain/problem.ts';
import { sandbox, optionsThatDecide, pickOptions, type RunOptions } from '../../domain/runs/run-options.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import { isElsewhere } from '../../ingest/sources/obtain-export.ts';
import { approveWithoutPerson, withdrawUnreadApproval } from '../../runs/approve-run.ts';
import { findOrBeginRun } from '../../runs/begin-run.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { getRun, servicesOfRuns, setRunStatus, type RunRecord } from '../../runs/runs.ts';
import { requireNamespace } from '../../temporal/connection.ts';
import { flagsOfRun } from '../run-options/read-run-options.ts';
import { webhookUrlOf } from '../session/servers.ts';
import { warnOfWorkers } from '../session/live-workers.ts';
import type { Session } from '../session/session.ts';
import { refuseInventedPeople, withSessionClient } from '../session/with-service.ts';
import { agrees } from '../terminal/confirm.ts';
import { tell } from '../terminal/output.ts';
import { approvalQuestion, describeMapping, describePlan } from './describe-plan.ts';
import { notApproved } from './describe-run.ts';
import { followRun, interruptionOf, leaveRun, waitForRun, type OnPlan } from './follow-run.ts';
import { ingestHere } from './plan-export.ts';
import type { SpecifiedRun } from './run-spec.ts';
import { describeUiAddress, tellOtherRuns } from './run-status.ts';
import { cancelRun, resumeRun } from './steer-run.ts';

/**
 * Enriches an export until the run ends or needs a person.
 *
 * @param options.asks whether a person at the terminal must approve the plan; false: the plan is approved
 * @param options.showsPlan prints an approved plan to standard error: with `--yes` the log then shows it
 */
export async function enrichExport(
  session: Session,
  spec: SpecifiedRun,
  { asks, showsPlan }: { asks: boolean; showsPlan: boolean },
): Promise<RunFacts> {
  await requireComponents(session, spec);
  // A signal that arrives while the run begins must not end the command as if there were no run.
  const passInterruption = holdInterruption();
  const { run: begun, found, optionsBefore } = await findOrBeginRun(session.warehouse, spec);
  const { runId } = begun;
  if (asks) await withdrawUnreadApproval(session.warehouse, runId);
  const run = await getRun(session.warehouse, runId);
  requirePlan(run, spec.expectedPlanHash);
  tell(found ? `continuing ${runId}` : `run ${runId}`);
  const step = firstStep(run, asks);
  describeChangedOptions(runId, optionsBefore, spec.options).forEach(tell);
  // While the command asks a person, a signal ends the question.
  const interrupted = step === 'spend' ? interruptionOf(session, runId) : undefined;
  passInterruption();
  if (step === 'stay paused') return readRunFacts(session.warehouse, runId);
  if (interrupted?.aborted === true && session.stack.temporal.embedded) {
    await leaveRun(session, runId);
    return readRunFacts(session.warehouse, runId);
  }
  if (isElsewhere(parseAddress(run.filePath, '/'))) await stageHere(session, run, spec.fetched);
  if (step === 'spend' && (await approveWithoutPerson(session.warehouse, run)))
    return readRunFacts(session.warehouse, runId);
  const handle = await resumeRun(session, run, step === 'spend');
  const uiAddress = await describeUiAddress(session, runId);
  if (uiAddress !== undefined) tell(uiAddress);
  await tellOtherRuns(session, runId);
  if (step === 'ask for approval') await askForApproval(session, handle);
  const onPlan = showsPlan ? planTeller(run.planHash !== null) : undefined;
  return waitForRun(session, handle, { interrupted, onPlan });
}

/** How a command continues the run that it has begun or found. */
type FirstStep = 'stay paused' | 'ask for approval' | 'spend';

function firstStep(run: RunRecord, asks: boolean): FirstStep {
  // The same command again overrules neither a quality gate nor a person: a program may repeat it.
  if (waitsForPerson(run, asks)) return 'stay paused';
  // An unfinished run without approval asks again, whatever its status. An approved run has perhaps spent credits.
  return asks && !run.isApproved ? 'ask for approval' : 'spend';
}

/** Checks, before a run begins, what the run needs: otherwise it would keep the status `ingesting` forever. */
async function requireComponents(session: Session, spec: SpecifiedRun): Promise<void> {
  if (knowsService(session.config)) await refuseInventedPeople(session);
  await checkService(session, spec.options);
  await requireNamespace(await session.temporal(), session.stack.temporal);
  await warnOfWorkers(session);
  // A worker or receiver cannot start on a used port.
  if (session.stack.temporal.embedded) await session.work();
}

/** @throws Problem `plan.changed` if the unfinished run has another plan than `--plan` names */
function requirePlan({ runId, planHash }: RunRecord, expected: string | null): void {
  if (planHash === null || expected === null || planHash === expected) return;
  throw new UsageProblem('plan.changed', `an unfinished run of this export has another plan: ${planHash}`, {
    where: runId,
    next:
      `enrich resume ${runId} continues with that plan; or enrich cancel ${runId} ends the run, then run the ` +
      'command again',
  });
}

/** Stages the export that this command has fetched: the workers need neither the file nor the credentials. */
async function stageHere(session: Session, run: RunRecord, fetched: string | undefined): Promise<void> {
  await ingestHere(session, run.runId, fetched).catch(async (error: unknown) => {
    if (error instanceof Problem && !error.type.startsWith('database.')) {
      const { type, sentence: reason, next } = error;
      await setRunStatus(session.warehouse, run.runId, 'failed', { type, reason, next });
    }
    throw error;
  });
}

/** @param isOld an earlier command has made the plan */
function planTeller(isOld: boolean): OnPlan {
  return (run, plan) => {
    tell(describeMapping(run));
    tell(describePlan(plan, run.options, isOld ? run.createdAt : undefined));
  };
}

/**
 * Shows the plan of a run that awaits approval, approves that plan, and waits for the run.
 *
 * @param asks whether the operator must approve the plan at a question
 * @throws Problem `run.not-steerable` if no plan awaits approval; `run.not-approved` without a yes
 */
export async function approvePlan(session: Session, run: RunRecord, asks: boolean): Promise<RunFacts> {
  const { runId, status, plan } = run;
  if (status !== 'awaiting_approval' || !plan)
    throw new UsageProblem('run.not-steerable', `no plan awaits approval: the run is ${statusText(status)}`, {
      where: runId,
      next: status === 'paused' ? `enrich resume ${runId}` : `enrich status ${runId}`,
    });
  planTeller(true)(run, plan);
  if (asks && (await agrees(approvalQuestion(plan))) !== true) throw unapproved(runId);
  await checkService(session, run.options);
  const interrupted = interruptionOf(session, runId);
  return waitForRun(session, await resumeRun(session, run, true), { interrupted });
}

/**
 * Waits for the plan and asks a person to approve it. A refusal cancels the run. Asks nothing if the run needs no
 * approval any more.
 *
 * @throws Problem `run.not-approved` if a signal ends the question
 */
async function askForApproval(session: Session, handle: WorkflowHandle): Promise<void> {
  const runId = handle.workflowId;
  // The signal must not stop the servers that this command's worker uses.
  const interrupted = new AbortController();
  const leave = onFirstInterruption(() => {
    tell('\nstopping: nothing is spent yet');
    interrupted.abort();
  });
  try {
    if (session.stack.temporal.embedded) await session.work();
    const status = await followRun(session, handle, interrupted.signal);
    const run = await getRun(session.warehouse, runId);
    if (interrupted.signal.aborted) throw unapproved(runId);
    if (status !== 'awaiting_approval' || !run.plan) return;
    planTeller(false)(run, run.plan);
    const yes = await agrees(approvalQuestion(run.plan), interrupted.signal);
    if (yes === undefined) throw unapproved(runId);
    // Starts the workflow again if it was lost while the person read the plan.
    if (yes) await resumeRun(session, run, true);
    else await cancelRun(session, run, notApproved);
  } finally {
    leave();
  }
}

function unapproved(runId: string): Problem {
  return new Problem('run.not-approved', `${notApproved}; nothing was spent`, {
    where: runId,
    next: `enrich approve ${runId} shows the plan again; enrich cancel ${runId} ends the run`,
    exitCode: exitCodes.needsPerson,
  });
}

const byPerson: PauseReasonType = 'run.paused';

/**
 * Whether only a person lets a run continue: a quality gate has paused it, or a person has. A run without an approval
 * asks in any case, if a person can answer.
 *
 * @param asks whether a person can answer
 */
export function waitsForPerson({ status, pauseReason, isApproved }: RunRecord, asks: boolean): boolean {
  if (status !== 'paused' || pauseReason === null) return false;
  return isQualityGate(pauseReason.type) || ((isApproved || !asks) && pauseReason.type === byPerson);
}

/**
 * Prints the user that the credential acts as, and what is left of the service's limits, before a run spends anything.
 * Prints nothing if only the settings of the workers name the service: the workers check it themselves.
 *
 * @param asked what the run asks for
 * @throws Problem `service.credential-refused`, `service.scope-missing`
 */
export async function checkService(session: Session, asked: RunOptions): Promise<void> {
  const { config, stack, warehouse } = session;
  if (!knowsService(config)) return;
  if (serviceName(config) !== sandbox && (await servicesOfRuns(warehouse)).includes(sandbox))
    tell(
      'note: this warehouse also has runs of the sandbox: their invented contacts stay in it, and their credits ' +
        'count in the budgets of their day and month; to begin clean, set ENRICH_DATA_DIR to a new folder, or ' +
        'DATABASE_URL to a new database',
    );
  const { baseUrl } = stack.service;
  // Workers of a server check their own receiver before the run spends anything.
  const polls =
    stack.temporal.embedded &&
    lateKindsOf(asked).length > 0 &&
    webhookUrlOf(config, baseUrl, { port: 0 }) === undefined;
  const status = await withSessionClient(session, (dependencies) =>
    readServiceStatus(dependencies, { polls }),
  );
  for (const line of describeServiceStatus(status)) tell(line);
}

/** Says what becomes of the options of a command that continues a run with others: the gates change in the run. */
export function describeChangedOptions(
  runId: string,
  before: RunOptions,
  given: RunOptions,
): readonly string[] {
  const differing = (names: readonly (keyof RunOptions)[]): string => {
    const [old, present] = [before, given].map((options) => flagsOfRun(pickOptions(options, names)));
    const flags = Object.keys({ ...old, ...present }).filter((flag) => old![flag] !== present![flag]);
    return flags.map((flag) => `--${flag}`).join(', ');
  };
  const [gates, kept] = [
    differing(optionsThatDecide('gate')),
    differing(optionsThatDecide('waiting', 'start')),
  ];
  return [
    ...(gates === '' ? [] : [`from now on, the run has these of this command: ${gates}`]),
    ...(kept === '' ? [] : [`the run keeps its own: ${kept}; to change them, enrich cancel ${runId} first`]),
  ];
}
