import { Command } from 'commander';
import { getRun } from '../warehouse/runs.ts';
import { print } from './output.ts';
import { withSession } from './session.ts';
import { settingsOf, withSettings } from './settings.ts';
import { steerRun } from './steer-run.ts';

/** The shape that `pause` and `cancel` share: an update of the run's workflow, with a reason that the UI shows. */
export function steerCommand(
  update: 'pause' | 'cancel',
  texts: { description: string; done: (runId: string) => string },
): Command {
  return withSettings(new Command(update))
    .description(texts.description)
    .argument('<run>', 'id of a run, or "latest"')
    .option('--reason <text>', 'why: shown in the Temporal UI and by enrich status', `enrich ${update}`)
    .addHelpText('after', `\nExample:\n  enrich ${update} latest --reason "budget review"`)
    .action(async (runId: string, options: { reason: string }) => {
      const config = settingsOf(options);
      // Where Temporal is embedded there may be no worker to carry out the update but our own, and a worker can call.
      const needs = { temporal: true, service: config.temporalAddress === undefined };
      await withSession(config, needs, async (session) => {
        const run = await getRun(session.warehouse, runId);
        if (session.stack.temporal.embedded) await session.work();
        await steerRun(session, run.runId, update, options.reason);
        print(texts.done(run.runId));
      });
    });
}
