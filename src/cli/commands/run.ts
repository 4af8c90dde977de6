import type { RunPriority } from '../../contract/temporal-names.ts';
import { namesService, type Config } from '../../config/settings.ts';
import { exitCodes } from '../../domain/problem.ts';
import { withCommandFlags, type CommandFlags } from '../run/run-option-flags.ts';
import { printPlan } from '../run/describe-plan.ts';
import { enrichExport } from '../run/enrich-export.ts';
import { planExport } from '../run/plan-export.ts';
import { exportAddressOf, specifyRun, type SpecifiedRun } from '../run/run-spec.ts';
import { printRunEnd } from '../run/run-status.ts';
import { readSettings, withSession, withWarehouse } from '../session/session.ts';
import { describeService } from '../session/with-service.ts';
import { Command } from '../terminal/command.ts';
import { printProgress, printNotice } from '../terminal/output.ts';

export function runCommand(): Command {
  return enrichingCommand('run', 'ad-hoc').description(
    'Enrich a CRM export: read it, show the plan and its price, and after your approval ask the service.',
  ).examples(`
  enrich run contacts.csv --max-credits 500
  enrich run contacts.csv --reveal phone      the run waits for the phones
  enrich run contacts.csv --pilot 200 --min-match-rate 40%
  enrich run contacts.csv --plan 3f9c2a…      only if the plan has this hash
  enrich run s3://exports/contacts.csv.gz --yes --json > run.json
  enrich run --query "select * from crm.contacts" --yes`).explain(`
At the question about the plan, only yes spends. No (or Enter) cancels the run, Ctrl-C leaves it for enrich approve.
Without a terminal and without --yes, the command prints the plan and spends nothing. All three end with exit code 3.

The same command again continues the unfinished run of the file. Other options, such as another --max-credits, begin a
second run (docs/guides/exports.md).`);
}

export function backfillCommand(): Command {
  return enrichingCommand('backfill', 'backfill').description(
    'Enrich a large export; calls of every other run go first.',
  ).examples(`
  enrich plan everybody.csv                  price and duration; spends nothing
  enrich backfill everybody.csv --yes --max-credits 20000`).explain(`
For an export that takes hours or days: the first load of a CRM, or all people again with phones. It uses the slots that
other runs leave. Limit it with --max-credits, so that the nightly run keeps the rest of the period budgets.`);
}

type RunFlags = CommandFlags & { readonly yes?: boolean };

/** Makes `run` or `backfill`. Without a terminal and without `--yes`, it only prints the plan. */
function enrichingCommand(name: string, priority: RunPriority): Command {
  const command = new Command(name).option('--yes', 'approve the plan without asking');
  return withCommandFlags(command).action(async (file: string | undefined, options: RunFlags) => {
    const config = readSettings();
    const spec = await specifyRun(exportAddressOf(file, options), options, config, priority);
    printProgress(describeService(config));
    const asks = options.yes !== true;
    if (asks && !process.stdin.isTTY) {
      await showPlan(config, spec, options);
      printNotice('nothing was spent: there is no terminal to ask; repeat the command with --yes to spend');
      process.exitCode = exitCodes.needsOperator;
      return;
    }
    const needs = { temporal: true, service: namesService(config) };
    await withSession(config, needs, async (session) =>
      printRunEnd(session, await enrichExport(session, spec, asks), options.json),
    );
  });
}

export function planCommand(): Command {
  return withCommandFlags(new Command('plan'))
    .description('Show the people, price and duration of a run of this export. Spends nothing.')
    .examples(`
  enrich plan contacts.csv
  enrich plan --query "select * from crm.contacts where stage = 'lead'"
  enrich run contacts.csv --plan HASH --yes     runs only the printed plan`)
    .action(async (file: string | undefined, options: CommandFlags) => {
      const config = readSettings();
      printProgress(describeService(config));
      const spec = await specifyRun(exportAddressOf(file, options), options, config);
      await showPlan(config, spec, options);
    });
}

/** Plans the export and prints the plan. Its rows are in the database only meanwhile. */
function showPlan(config: Config, spec: SpecifiedRun, { json = false }: CommandFlags): Promise<void> {
  return withWarehouse(config, async (session) => printPlan(await planExport(session, spec), json));
}
