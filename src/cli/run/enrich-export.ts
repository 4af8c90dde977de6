import type { WorkflowHandle } from '@temporalio/client';
import { knowsService } from '../../config/settings.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { Problem, UsageProblem, exitCodes } from '../../domain/problem.ts';
import { holdInterruption, onFirstInterruption } from '../../dev/interruption.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import { isElsewhere } from '../../ingest/sources/obtain-export.ts';
import { approveWithoutPerson, withdrawUnreadApproval } from '../../runs/approve-run.ts';
import { findOrBeginRun } from '../../runs/begin-run.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { getRun, setRunStatus, type RunRecord } from '../../runs/runs.ts';
import { requireNamespace } from '../../temporal/connection.ts';
import type { Session } from '../session/session.ts';
import { agrees } from '../terminal/confirm.ts';
import { tell } from '../terminal/output.ts';
import { checkService } from './check-service.ts';
import { describeChangedOptions } from './changed-options.ts';
import { approvalQuestion, describePlan } from './describe/describe-plan.ts';
import { followRun, type OnPlan, warnOfPlainText } from './follow/follow-run.ts';
import { interruptionOf, leaveRun, waitForRun } from './follow/wait-for-run.ts';
import { describeMapping, ingestHere } from './plan-export.ts';
import { refuseInventedPeople } from '../session/with-service.ts';
import { describeUiAddress } from './describe/describe-ui-address.ts';
import type { SpecifiedRun } from './run-spec.ts';
import { resumeRun } from './steer/start-run.ts';
import { cancelRun } from './steer/stop-run.ts';
import { isQualityGate, type PauseReasonType } from '../../contract/pause-reasons.ts';

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
  const asksToContinue = step === 'ask to continue';
  describeChangedOptions({ runId, waitsForPerson: asksToContinue }, optionsBefore, spec.options).forEach(
    tell,
  );
  // While the command asks a person, a signal ends the question.
  const interrupted = step === 'spend' ? interruptionOf(session, runId) : undefined;
  passInterruption();
  if (asksToContinue) return continueIfAgreed(session, await readRunFacts(session.warehouse, runId), asks);
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
  if (step === 'ask for approval') await askForApproval(session, handle);
  const onPlan = showsPlan ? planTeller(run.planHash !== null) : undefined;
  return continueIfAgreed(session, await waitForRun(session, handle, { interrupted, onPlan }), asks);
}

/** How a command continues the run that it has begun or found. */
type FirstStep = 'ask to continue' | 'ask for approval' | 'spend';

function firstStep(run: RunRecord, asks: boolean): FirstStep {
  // The same command again overrules neither a quality gate nor a person: a program may repeat it.
  if (waitsForPerson(run, asks)) return 'ask to continue';
  // An unfinished run without approval asks again, whatever its status. An approved run has perhaps spent credits.
  return asks && !run.isApproved ? 'ask for approval' : 'spend';
}

/** Checks, before a run begins, what the run needs: otherwise it would keep the status `ingesting` forever. */
async function requireComponents(session: Session, spec: SpecifiedRun): Promise<void> {
  if (knowsService(session.config)) await refuseInventedPeople(session);
  await checkService(session, spec.options);
  await requireNamespace(await session.temporal(), session.stack.temporal);
  await warnOfPlainText(session);
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
    if (isOld) tell('the plan was made when the run began; budgets may have changed since:');
    tell(describePlan(plan, run.options));
  };
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
    if (interrupted.signal.aborted) throw notApproved(runId);
    if (status !== 'awaiting_approval' || !run.plan) return;
    planTeller(false)(run, run.plan);
    const yes = await agrees(approvalQuestion(run.plan), interrupted.signal);
    if (yes === undefined) throw notApproved(runId);
    // Starts the workflow again if it was lost while the person read the plan.
    if (yes) await resumeRun(session, run);
    else await cancelRun(session, run, 'the plan was not approved');
  } finally {
    leave();
  }
}

function notApproved(runId: string): Problem {
  return new Problem('run.not-approved', 'the plan was not approved; nothing was spent', {
    where: runId,
    next: `run the same command again to approve; enrich cancel ${runId} ends the run`,
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
 * Asks on the terminal whether to continue a run that waits for a person. If so, continues the run and waits.
 *
 * @param facts of the run before
 * @param asks whether a person can answer
 * @returns facts of the run afterwards
 */
async function continueIfAgreed(session: Session, facts: RunFacts, asks: boolean): Promise<RunFacts> {
  let latest = facts;
  for (;;) {
    const run = await getRun(session.warehouse, latest.run_id);
    if (!asks || !waitsForPerson(run, asks)) return latest;
    tell(run.pauseReason?.reason ?? '');
    if (!(await agrees('continue with the other people?'))) return latest;
    latest = await waitForRun(session, await resumeRun(session, run));
  }
}
