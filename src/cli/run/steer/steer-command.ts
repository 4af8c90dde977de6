import { Command, reasonOption, jsonOption, type JsonFlag } from '../../terminal/command.ts';
import type { RunNeed } from '../../../runs/latest-run.ts';
import { readRunFacts } from '../../../runs/read-run-facts.ts';
import type { RunRecord } from '../../../runs/runs.ts';
import { warnOfPlainText, warnWithoutWorker } from '../follow/follow-run.ts';
import { runToSteer, steeredRun } from './run-to-steer.ts';
import { printFacts } from '../../terminal/output.ts';
import { withSession, type Session } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

/** Makes `pause` or `cancel`: a command that sends an update to a run, with a reason that the UI shows. */
export function steerCommand(
  name: 'pause' | 'cancel',
  texts: { description: string; need: RunNeed; done: (before: RunRecord) => string },
  steer: (session: Session, run: RunRecord, reason: string) => Promise<void>,
): Command {
  return withSettings(new Command(name))
    .description(texts.description)
    .argument('<run>', steeredRun[texts.need])
    .addOption(
      reasonOption(
        name === 'cancel'
          ? 'reason, shown in the Temporal UI, by enrich status and in the report'
          : 'reason, shown in the Temporal UI, and by enrich status until the run continues',
        `enrich ${name}`,
      ),
    )
    .option(...jsonOption)
    .explain(`
The command records its decision in the database before it waits for a worker. Ctrl-C is safe meanwhile: the
run makes no further call.

Example:\n  enrich ${name} latest --reason "budget review"`)
    .action(async (runId: string, options: { reason: string } & JsonFlag) => {
      const config = settingsOfExisting(options);
      // Embedded Temporal may need this command's worker for the update, and a worker needs the service.
      const needs = { temporal: true, service: config.temporalAddress === undefined };
      await withSession(config, needs, async (session) => {
        const run = await runToSteer(session.warehouse, runId, texts.need);
        await warnOfPlainText(session);
        await warnWithoutWorker(session);
        await steer(session, run, options.reason);
        printFacts<'run'>(options.json, await readRunFacts(session.warehouse, run.runId), texts.done(run));
      });
    });
}
