import { Command } from '../../terminal/command.ts';
import type { RunPriority } from '../../../contract/run-priorities.ts';
import { exitCodes } from '../../../domain/problem.ts';
import { knowsService } from '../../../config/settings.ts';
import { describeService } from '../../run/describe/describe-service.ts';
import { enrichExport } from '../../run/enrich-export.ts';
import { reportRun, readRunResult } from '../../run/report-run.ts';
import { tell } from '../../terminal/output.ts';
import { planExport, printPlan } from '../../run/plan-export.ts';
import { settingsOfRun, withCommandFlags, type CommandFlags } from '../../run-options/command-flags.ts';
import { addressOf, specifyRun } from '../../run/run-spec.ts';
import { withSession, withWarehouse } from '../../session/session.ts';
import { withSettings } from '../../session/settings-flags.ts';
import { isCommandPresent } from '../../run/describe/present-status.ts';

/** Help of the commands that begin a run. */
export const exitCodesOfRuns = `\
Exit codes: 0 done, 1 failed, 2 usage, 3 finished or paused with something that needs a person.
Ctrl-C or SIGTERM pauses the run: 3 with reason_type run.interrupted. The same command continues the run.
With TEMPORAL_ADDRESS, the run continues on the workers instead: 3 with reason_type run.continues.
129, 130 and 143: a signal before the run began, or a second signal.`;

export function runCommand(): Command {
  return enrichingCommand('run', 'ad-hoc').description(
    'Enrich a CRM export: read it, show the plan and its price, and after your approval ask the service.',
  ).explain(`
At the question about the plan, only yes spends. No (or Enter) cancels the run and ends with 0. Ctrl-C leaves the run
as it is and ends with 3. Without a terminal and without --yes, the command prints the plan and spends nothing.
The same command again continues the unfinished run of the file. Other options, such as another --max-credits, begin a
second run (docs/exports.md).

Examples:
  enrich run contacts.csv
  enrich run contacts.csv --yes --json --max-credits 500 > run.json
  enrich run contacts.csv --plan 3f9c2a…        only if the plan has this hash
  enrich run contacts.csv --pilot 200 --min-match-rate 40% --max-cost-per-email 3
  enrich run contacts.csv --reveal phone        phones come later, by webhook or poll; the run waits for them
  enrich run s3://crm-exports/contacts.csv.gz --yes --max-credits 500
  enrich run --query "select * from crm.contacts" --yes --max-credits 500

${exitCodesOfRuns}`);
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
        const result = await withSession(config, needs, async (session) =>
          readRunResult(session, await enrichExport(session, spec, { asks, showsPlan: !asks })),
        );
        reportRun(result, options.json === true);
      },
    );
}
