import { Command } from 'commander';
import type { RunFacts } from '../../../contract/run-facts.ts';
import type { RunPriority } from '../../../contract/run-priorities.ts';
import { Problem, UsageProblem, exitCodes } from '../../../domain/problem.ts';
import { parseAddress } from '../../../ingest/sources/export-address.ts';
import { isElsewhere } from '../../../ingest/sources/obtain-export.ts';
import { readRunFacts } from '../../../runs/read-run-facts.ts';
import { findOrBeginRun } from '../../../runs/begin-run.ts';
import { getRun, setRunStatus, type RunRecord } from '../../../runs/runs.ts';
import { holdInterruption, onFirstInterruption } from '../../../dev/interruption.ts';
import { agrees } from '../../terminal/confirm.ts';
import { checkService } from '../../run/check-service.ts';
import { describeService, knowsService } from '../../run/describe-service.ts';
import { approvalQuestion, describePlan, describeRun, exitCodeOf } from '../../run/describe-run.ts';
import { followRun, type OnPlan } from '../../run/follow-run.ts';
import { printFacts, tell } from '../../terminal/output.ts';
import { describeMapping, ingestHere, planExport, printPlan } from '../../run/plan-export.ts';
import { settingsOfRun, withCommandFlags, type CommandFlags } from '../../run/command-flags.ts';
import { addressOf, specifyRun, type SpecifiedRun } from '../../run/run-spec.ts';
import { withSession, withWarehouse, type Session } from '../../session/session.ts';
import { withSettings } from '../../session/settings-flags.ts';
import { isCommandPresent } from '../../run/present-status.ts';
import { runPage } from '../../run/run-page.ts';
import { continueIfAgreed, waitsForPerson } from '../../run/continue-if-agreed.ts';
import { requireNamespace } from '../../../temporal/connection.ts';
import { sendUpdate } from '../../run/send-update.ts';
import { interruptionOf, leaveRun, resumeRun, startRunWorkflow, waitForRun } from '../../run/steer-run.ts';
import { cancelRun } from '../../run/stop-run.ts';

export function runCommand(): Command {
  return enrichingCommand('run', 'ad-hoc')
    .description(
      'Enrich a CRM export: read it, show the plan and its price, and after your approval ask the service.',
    )
    .addHelpText(
      'after',
      `
The question about the plan has three ends: yes spends, no (also Enter) cancels the run and ends with 0, and Ctrl-C
leaves the run as it is and ends with 3. Any other answer is asked again. Only yes spends.
Without a terminal and without --yes, the command prints the plan and spends nothing.
The same command again continues the unfinished run of the file.

Examples:
  enrich run contacts.csv
  enrich run contacts.csv --yes --json --max-credits 500 > run.json
  enrich run contacts.csv --plan 3f9c2a…        only if the plan has this hash
  enrich run contacts.csv --pilot 200 --min-match-rate 40% --max-cost-per-email 3
  enrich run contacts.csv --reveal phone        phones come later, by webhook or poll; the run waits for them
  enrich run s3://crm-exports/contacts.csv.gz --yes --max-credits 500
  enrich run --from-table crm.contacts --yes --max-credits 500

Exit codes: 0 done, 1 failed, 2 usage, 3 finished or paused with something that needs a person.
Ctrl-C or SIGTERM pauses the run: 3 with reason_type run.interrupted. The same command continues the run.
With TEMPORAL_ADDRESS, the run continues on the workers instead: 3 with reason_type run.continues.
129, 130 and 143: a signal before the run began, or a second signal.`,
    );
}

/**
 * A command that enriches one file. `run` and `backfill` differ in priority and help.
 *
 * @param priority of the run's calls
 */
export function enrichingCommand(name: string, priority: RunPriority): Command {
  return withCommandFlags(withSettings(new Command(name)))
    .option('--yes', 'approve the plan without asking')
    .action(
      async (
        file: string | undefined,
        options: CommandFlags & { readonly yes?: boolean; readonly rateLimits?: string },
      ) => {
        const config = settingsOfRun(options);
        const spec = await specifyRun(addressOf(file, options), options, config, priority);
        tell(describeService(config));
        if (
          options.rateLimits !== undefined &&
          (config.temporalAddress !== undefined || isCommandPresent(config))
        )
          tell('note: running workers keep their own RATE_LIMITS; the plan shows the limit that applies');
        const asks = options.yes !== true;
        if (asks && !process.stdin.isTTY) {
          await withWarehouse(config, async (session) => {
            const planned = await planExport(session, spec);
            printPlan(planned, options.json === true);
          });
          tell('nothing was spent: there is no terminal to ask; repeat the command with --yes to spend');
          process.exitCode = exitCodes.needsPerson;
          return;
        }
        const needs = { temporal: true, service: knowsService(config) };
        const facts = await withSession(config, needs, (session) =>
          enrichExport(session, spec, { asks, showsPlan: !asks }),
        );
        reportRun(facts, options.json === true);
      },
    );
}

/**
 * Enriches an export until the run ends or needs a person.
 *
 * @param options.asks whether a person at the terminal must approve the plan; false: the plan is approved
 * @param options.showsPlan prints the plan to standard error: with `--yes` the log then shows it
 */
export async function enrichExport(
  session: Session,
  spec: SpecifiedRun,
  { asks, showsPlan }: { asks: boolean; showsPlan: boolean },
): Promise<RunFacts> {
  await checkService(session, spec.options);
  // Before the run begins: without Temporal or its namespace the run would keep the status `ingesting` forever.
  await requireNamespace(await session.temporal(), session.stack.temporal);
  // A worker or receiver that cannot start, such as on a used port, begins no run either.
  if (session.stack.temporal.embedded) await session.work();
  // A signal that arrives while the run begins must not end the command as if there were no run.
  const passInterruption = holdInterruption();
  const { run, found } = await findOrBeginRun(session.warehouse, spec);
  if (found) requirePlan(run, spec.expectedPlanHash);
  tell(found ? `continuing ${run.runId}` : `run ${run.runId}`);
  const asksPerson = found && waitsForPerson(run, asks);
  // An unfinished run without approval asks again, whatever its status.
  const approved = !asks || run.isApproved;
  const waiting = approved && !asksPerson ? { interrupted: interruptionOf(session, run.runId) } : {};
  passInterruption();
  // The same command again overrules neither a quality gate nor a person: a program may repeat it.
  if (asksPerson) return continueIfAgreed(session, await readRunFacts(session.warehouse, run.runId), asks);
  if (waiting.interrupted?.aborted === true && session.stack.temporal.embedded) {
    await leaveRun(session, run.runId);
    return readRunFacts(session.warehouse, run.runId);
  }
  if (isElsewhere(parseAddress(run.filePath, '/'))) await stageHere(session, run, spec.fetched);
  const handle =
    found && (run.status === 'paused' || (approved && run.planHash !== null))
      ? await resumeRun(session, run, approved)
      : await startRunWorkflow(session, run, approved);
  const page = await runPage(session, run.runId);
  if (page !== undefined) tell(page);
  // An approved run asks nothing, and has perhaps spent credits already.
  if (!approved && !(await approve(session, run.runId, handle)))
    return continueIfAgreed(session, await waitForRun(session, run.runId, handle), asks);
  const onPlan: OnPlan = (planned, plan) => {
    if (!showsPlan) return;
    tell(describeMapping(planned));
    if (found && run.planHash !== null)
      tell('the plan was made when the run began; budgets may have changed since:');
    tell(describePlan(plan, planned.options));
  };
  const facts = await waitForRun(session, run.runId, handle, { ...waiting, onPlan });
  return continueIfAgreed(session, facts, asks);
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

/** Prints the result of a run and sets the exit code. */
export function reportRun(facts: RunFacts, json: boolean): void {
  printFacts<'run'>(json, facts, describeRun(facts));
  process.exitCode = exitCodeOf(facts);
}

async function approve(
  session: Session,
  runId: string,
  handle: Awaited<ReturnType<typeof startRunWorkflow>>,
): Promise<boolean> {
  // The signal must not stop the servers that this command's worker uses.
  const interrupted = new AbortController();
  const leave = onFirstInterruption(() => {
    tell('\nstopping: nothing is spent yet');
    interrupted.abort();
  });
  try {
    if (session.stack.temporal.embedded) await session.work();
    const status = await followRun(session, runId, handle, interrupted.signal);
    const run = await getRun(session.warehouse, runId);
    if (interrupted.signal.aborted) throw notApproved(runId);
    if (status !== 'awaiting_approval' || !run.plan) return false;
    tell(describeMapping(run));
    tell(describePlan(run.plan, run.options));
    const yes = await agrees(approvalQuestion(run.plan), interrupted.signal);
    if (yes === undefined) throw notApproved(runId);
    if (yes) await sendUpdate(session, runId, 'approve', [run.plan.planHash]);
    else await cancelRun(session, run, 'the plan was not approved');
    return yes;
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
