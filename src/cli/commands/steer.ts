import { knowsService, type Config } from '../../config/settings.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import type { RunRecord } from '../../runs/runs.ts';
import { approvePlan, checkService } from '../run/enrich-export.ts';
import { interruptionOf, waitForRun } from '../run/follow-run.ts';
import { anyRun, namedRun, printRun, readRunView, reportRun, type RunView } from '../run/run-status.ts';
import { cancelRun, pauseRun, requireUnfinished, resumeRun } from '../run/steer-run.ts';
import { warnOfWorkers } from '../session/live-workers.ts';
import { withSession, type Session, settingsOfExisting } from '../session/session.ts';
import { Command, Option, jsonOption, noteOf, type Flags } from '../terminal/command.ts';

export function approveCommand(): Command {
  return new Command('approve')
    .description('Show the plan of a run that awaits approval, ask, and wait for the run.')
    .argument('<run>', anyRun)
    .option('--yes', 'approve the plan without asking')
    .option(...jsonOption)
    .explain(`
The approval holds for the plan that the command shows, and for no other.

Example:
  enrich approve latest`)
    .action((name: string, flags: Flags) =>
      continueRun(name, flags, (session, run) => approvePlan(session, run, flags.yes !== true)),
    );
}

export function resumeCommand(): Command {
  return new Command('resume')
    .description('Continue a paused or interrupted run, and wait for it.')
    .argument('<run>', anyRun)
    .option(...jsonOption)
    .explain(`
A run that has finished in the meantime shows its result. A cancelled run is refused: run the file again.
A plan without your approval stays without it: enrich approve RUN.

Examples:
  enrich resume latest
  enrich resume enrich-hubspot-day2-20261122T0007-32f8a1`)
    .action((name: string, flags: Flags) =>
      continueRun(name, flags, async (session, run) => {
        if (run.status === 'cancelled') requireUnfinished(run);
        // A worker can finish a run between the hint to resume it and this command.
        if (run.finishedAt !== null) return readRunFacts(session.warehouse, run.runId);
        await checkService(session, run.options);
        const interrupted = interruptionOf(session, run.runId);
        return waitForRun(session, await resumeRun(session, run, false), interrupted);
      }),
    );
}

type Work = (session: Session, run: RunRecord) => Promise<RunFacts>;

async function continueRun(name: string, flags: Flags, work: Work): Promise<void> {
  reportRun(await viewAfter(name, knowsService, work), flags.json === true);
}

/** @param needsService the command's own worker is needed, and it needs the service */
function viewAfter(name: string, needsService: (config: Config) => boolean, work: Work): Promise<RunView> {
  const config = settingsOfExisting();
  return withSession(config, { temporal: true, service: needsService(config) }, async (session) => {
    const run = await namedRun(session, name);
    await warnOfWorkers(session);
    return readRunView(session, await work(session, run));
  });
}

export function pauseCommand(): Command {
  const what =
    'Pause a run. Calls in flight are recorded first. A run that is paused already keeps its reason.';
  return steerCommand('pause', what, pauseRun);
}

export function cancelCommand(): Command {
  const what = 'End a run without further calls. Results are kept; the other rows become "cancelled".';
  // A cancellation spends and deletes nothing, so the command never asks.
  return steerCommand('cancel', what, cancelRun).addOption(new Option('--yes').hideHelp());
}

function steerCommand(name: string, description: string, steer: typeof pauseRun): Command {
  return new Command(name)
    .description(description)
    .argument('<run>', anyRun)
    .keepNote('shown by enrich status, in the Temporal UI and in the report')
    .option(...jsonOption)
    .explain(`
The command records its decision in the database before it waits for a worker. Ctrl-C is safe meanwhile: the
run makes no further call.

Example:\n  enrich ${name} latest --reason "budget review"`)
    .action(async (runName: string, flags: Flags) => {
      const { by, reason = '' } = noteOf(flags);
      const isEmbedded = ({ temporalAddress }: Config): boolean => temporalAddress === undefined;
      const view = await viewAfter(runName, isEmbedded, async (session, run) => {
        await steer(session, run, { by, reason });
        return readRunFacts(session.warehouse, run.runId);
      });
      printRun(view, flags.json === true);
    });
}
