import { Command } from 'commander';
import { getRun, type RunRecord } from '../warehouse/runs.ts';
import { warnWithoutWorker } from './follow-run.ts';
import { print } from './output.ts';
import { withSession, type Session } from './session.ts';
import { settingsOf, withSettings } from './settings.ts';

/** The shape that `pause` and `cancel` share: a word to a run, with a reason that the UI shows. */
export function steerCommand(
  name: 'pause' | 'cancel',
  texts: { description: string; done: (runId: string) => string },
  steer: (session: Session, run: RunRecord, reason: string) => Promise<void>,
): Command {
  return withSettings(new Command(name))
    .description(texts.description)
    .argument('<run>', 'id of a run, or "latest"')
    .option('--reason <text>', 'why: shown in the Temporal UI and by enrich status', `enrich ${name}`)
    .addHelpText('after', `\nExample:\n  enrich ${name} latest --reason "budget review"`)
    .action(async (runId: string, options: { reason: string }) => {
      const config = settingsOf(options);
      // Where Temporal is embedded there may be no worker to carry out the update but our own, and a worker can call.
      const needs = { temporal: true, service: config.temporalAddress === undefined };
      await withSession(config, needs, async (session) => {
        const run = await getRun(session.warehouse, runId);
        if (!session.stack.temporal.embedded) await warnWithoutWorker(session);
        await steer(session, run, options.reason);
        print(texts.done(run.runId));
      });
    });
}
