import { Command } from 'commander';
import type { RunFacts } from '../../contract.ts';
import { readRunFacts } from '../../runs/run-facts.ts';
import { listRuns } from '../../runs/runs.ts';
import { describeRun } from '../run/describe-run.ts';
import { lookedAtRun } from '../run/latest-run.ts';
import { wholeNumber } from '../terminal/number-flag.ts';
import { print, printJson, table, tell } from '../terminal/output.ts';
import { describeIdle, describePreempted, withPresentReason } from '../run/present-status.ts';
import { withWarehouse } from '../session/session.ts';
import { settingsOf, withSettings } from '../session/settings-flags.ts';

/** `enrich status [RUN]` */
export function statusCommand(): Command {
  return withSettings(new Command('status'))
    .description('say how a run is, or list the newest runs')
    .argument('[run]', lookedAtRun)
    .option('--json', 'the same as one JSON object (or an array of them)')
    .option('--limit <n>', 'how many runs to list', wholeNumber(1, 10_000), 20)
    .addHelpText('after', '\nExample:\n  enrich status latest --json')
    .action(async (runId: string | undefined, options: { json?: boolean; limit: number }) => {
      const config = settingsOf(options);
      await withWarehouse(config, async (session) => {
        const { warehouse } = session;
        const factsOf = async (id: string): Promise<RunFacts> =>
          withPresentReason(session, await readRunFacts(warehouse, id));
        // A hint, and no fact of the run: beside --json it goes to standard error.
        const hint = options.json === true ? tell : print;
        if (runId !== undefined) {
          const facts = await factsOf(runId);
          if (options.json === true) printJson(facts);
          else print(describeRun(facts));
          (await describeIdle(session, [facts])).forEach(hint);
          (await describePreempted(session, facts)).forEach(hint);
          return;
        }
        const runs = await listRuns(warehouse, options.limit);
        const facts = await Promise.all(runs.map((run) => factsOf(run.runId)));
        if (options.json === true) {
          printJson(facts);
        } else if (facts.length === 0) {
          print('no runs yet: enrich run FILE begins one');
        } else {
          print(
            table([
              ['run', 'status', 'rows', 'calls', 'credits', 'file'],
              ...facts.map((run) => [
                run.run_id,
                run.undone ? `${run.status}, undone` : run.status,
                run.rows,
                run.calls,
                run.credits.settled,
                run.file,
              ]),
            ]),
          );
        }
        (await describeIdle(session, facts)).forEach(hint);
      });
    });
}
