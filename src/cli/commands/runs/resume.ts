import { Command, jsonOption } from '../../terminal/command.ts';
import { readRunFacts } from '../../../runs/read-run-facts.ts';
import { checkService } from '../../run/check-service.ts';
import { knowsService } from '../../../config/settings.ts';
import { runToSteer, steeredRun } from '../../run/steer/run-to-steer.ts';
import { reportRun, readRunResult } from '../../run/report-run.ts';
import { withSession } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';
import { interruptionOf, waitForRun } from '../../run/follow/wait-for-run.ts';
import { resumeRun } from '../../run/steer/start-run.ts';
import { requireUnfinished } from '../../run/steer/stop-run.ts';

export function resumeCommand(): Command {
  return withSettings(new Command('resume'))
    .description('Continue a paused or interrupted run, and wait for it.')
    .argument('<run>', steeredRun.waiting)
    .option(...jsonOption)
    .explain(`
A run that has finished in the meantime shows its result. A cancelled run is refused: run the file again.

Examples:
  enrich resume enrich-hubspot-day2-20261122T0007-32f8a1
  enrich resume latest`)
    .action(async (runId: string, options: { json?: boolean }) => {
      const config = settingsOfExisting(options);
      const needs = { temporal: true, service: knowsService(config) };
      const result = await withSession(config, needs, async (session) => {
        const run = await runToSteer(session.warehouse, runId, 'waiting');
        if (run.status === 'cancelled') requireUnfinished(run);
        // A worker can finish a run between the hint to resume it and this command.
        if (run.finishedAt !== null)
          return readRunResult(session, await readRunFacts(session.warehouse, run.runId));
        await checkService(session, run.options);
        const interrupted = interruptionOf(session, run.runId);
        const facts = await waitForRun(session, await resumeRun(session, run), { interrupted });
        return readRunResult(session, facts);
      });
      reportRun(result, options.json === true);
    });
}
