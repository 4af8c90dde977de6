import { Argument, Command, jsonOption, type JsonFlag } from '../../terminal/command.ts';
import { taskPriorities, type RunPriority } from '../../../contract/run-priorities.ts';
import { setRunPriority } from '../../../runs/runs.ts';
import { runToSteer, steeredRun } from '../../run/steer/run-to-steer.ts';
import { printFacts } from '../../terminal/output.ts';
import { withSession } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';
import { sendUpdate } from '../../run/steer/send-update.ts';
import { requireUnfinished } from '../../run/steer/stop-run.ts';

export function priorityCommand(): Command {
  return withSettings(new Command('priority'))
    .description('Change the priority of a run, from its next batch on.')
    .argument('<run>', steeredRun.unfinished)
    .addArgument(
      new Argument('<priority>', 'ad-hoc goes before nightly, nightly before backfill').choices(
        Object.keys(taskPriorities),
      ),
    )
    .option(...jsonOption)
    .explain('\nExample:\n  enrich priority latest backfill')
    .action(async (runId: string, priority: RunPriority, options: JsonFlag) => {
      const config = settingsOfExisting(options);
      const server = config.temporalAddress !== undefined;
      await withSession(config, { temporal: server, service: false }, async (session) => {
        const run = await runToSteer(session.warehouse, runId, 'unfinished');
        requireUnfinished(run);
        // Workers order calls by the priority in the database. A Temporal server also orders tasks, so its workflow
        // gets an update. The embedded server has one worker, which this command must not start for an update.
        await setRunPriority(session.warehouse, run.runId, priority);
        if (server) await sendUpdate(session, run.runId, 'changePriority', [priority]);
        const before = run.options.priority;
        printFacts(
          options.json,
          { run_id: run.runId, before, after: priority },
          `${run.runId}: ${before} → ${priority}`,
        );
      });
    });
}
