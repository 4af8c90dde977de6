import { Command } from 'commander';
import { readRunFacts } from '../../runs/run-facts.ts';
import { checkService } from '../run/check-service.ts';
import { runToSteer, steeredRun } from '../run/latest-run.ts';
import { reportRun } from './run.ts';
import { withSession } from '../session/session.ts';
import { settingsOf, withSettings } from '../session/settings-flags.ts';
import { resumeRun, waitForRun } from '../run/steer-run.ts';

/** `enrich resume RUN` */
export function resumeCommand(): Command {
  return withSettings(new Command('resume'))
    .description('go on with a run that is paused or was interrupted, and wait for it as run does')
    .argument('<run>', steeredRun.waiting)
    .option('--json', 'facts as one JSON object on the last line of standard output')
    .addHelpText('after', '\nExamples:\n  enrich resume run-20261121-040312-a1b2c3\n  enrich resume latest')
    .action(async (runId: string, options: { json?: boolean }) => {
      const config = settingsOf(options);
      const facts = await withSession(config, { temporal: true, service: true }, async (session) => {
        const run = await runToSteer(session.warehouse, runId, 'waiting');
        if (run.finishedAt !== null) return readRunFacts(session.warehouse, run.runId);
        await checkService(session, run.options);
        return waitForRun(session, run.runId, await resumeRun(session, run));
      });
      reportRun(facts, options.json === true, config);
    });
}
