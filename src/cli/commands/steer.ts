import { namesService, type Config } from '../../config/settings.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import type { RunRecord } from '../../runs/runs.ts';
import { approvePlan, checkService } from '../run/enrich-export.ts';
import { interruptSignalOfRun, waitForRun } from '../run/follow-run.ts';
import { runArgumentHelp, findNamedRun, printRun, readRunView, printRunEnd } from '../run/run-status.ts';
import { cancelRun, pauseRun, requireUnfinished, resumeRun } from '../run/steer-run.ts';
import { warnAboutWorkers } from '../session/live-workers.ts';
import { withSession, type Session, readSettingsOfExistingWarehouse } from '../session/session.ts';
import { Command, Option, toNote, type CommonFlags } from '../terminal/command.ts';

export function approveCommand(): Command {
  return new Command('approve')
    .description('Show the plan of a run that awaits approval, ask, and wait for the run.')
    .argument('<run>', runArgumentHelp)
    .option('--yes', 'approve the plan without asking')
    .json()
    .quiet()
    .examples('\n  enrich approve latest')
    .explain('\nThe approval holds only for the plan that the command shows.')
    .action((name: string, flags: CommonFlags) =>
      withRun(name, namesService, async (session, run) =>
        printRunEnd(session, await approvePlan(session, run, flags.yes !== true), flags.json),
      ),
    );
}

export function resumeCommand(): Command {
  return new Command('resume')
    .description('Continue a paused or interrupted run, and wait for it.')
    .argument('<run>', runArgumentHelp)
    .json()
    .quiet()
    .examples('\n  enrich resume latest\n  enrich resume 32f8a1')
    .explain(`
A run that has finished in the meantime shows its result. A cancelled run is refused: run the file again.
A plan without your approval stays without it: enrich approve RUN.`)
    .action((name: string, flags: CommonFlags) =>
      withRun(name, namesService, async (session, run) =>
        printRunEnd(session, await continueRun(session, run), flags.json),
      ),
    );
}

/** Resumes a run and waits for it. A finished run shows its result. @throws UsageProblem for a cancelled run */
async function continueRun(session: Session, run: RunRecord): Promise<RunFacts> {
  if (run.status === 'cancelled') requireUnfinished(run);
  // A worker may have finished the run after the operator read the hint to resume it.
  if (run.finishedAt !== null) return readRunFacts(session.warehouse, run.runId);
  await checkService(session, run.options);
  const interrupted = interruptSignalOfRun(session, run.runId);
  return waitForRun(session, await resumeRun(session, run, false), interrupted);
}

/** Opens a session and finds the run. @param needsService whether the command's own worker must call the service */
function withRun(
  name: string,
  needsService: (config: Config) => boolean,
  work: (session: Session, run: RunRecord) => Promise<void>,
): Promise<void> {
  const config = readSettingsOfExistingWarehouse();
  return withSession(config, { temporal: true, service: needsService(config) }, async (session) => {
    const run = await findNamedRun(session, name);
    await warnAboutWorkers(session);
    await work(session, run);
  });
}

export function pauseCommand(): Command {
  const what =
    'Pause a run. Calls in flight are recorded first. A run that is paused already keeps its reason.';
  return steerCommand('pause', what, pauseRun);
}

export function cancelCommand(): Command {
  const what = 'End a run without further calls. Results are kept; the other rows become "cancelled".';
  // A cancellation spends and deletes nothing, so it needs no approval. Scripts may still give `--yes`.
  return steerCommand('cancel', what, cancelRun).addOption(new Option('--yes').hideHelp());
}

/** Makes `pause` or `cancel`. @param steer makes the decision, and waits until a worker has taken it */
function steerCommand(name: string, description: string, steer: typeof pauseRun): Command {
  return new Command(name)
    .description(description)
    .argument('<run>', runArgumentHelp)
    .keepNote('shown by enrich status, in the Temporal UI and in the report')
    .json()
    .examples(`\n  enrich ${name} latest --reason "budget review"`)
    .explain(`
The command records its decision before it waits for a worker. Ctrl-C is safe meanwhile: no further call is made.`)
    .action(async (runName: string, flags: CommonFlags) => {
      const { by, reason = '' } = toNote(flags);
      // Only with embedded Temporal, this command runs the worker that makes the calls.
      const isEmbedded = ({ temporalAddress }: Config): boolean => temporalAddress === undefined;
      await withRun(runName, isEmbedded, async (session, run) => {
        await steer(session, run, { by, reason });
        const facts = await readRunFacts(session.warehouse, run.runId);
        printRun(await readRunView(session, facts), flags.json === true);
      });
    });
}
