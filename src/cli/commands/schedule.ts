import type { Client } from '@temporalio/client';
import { Command, Option, type CommonFlags } from '../terminal/command.ts';
import type { Config } from '../../config/settings.ts';
import { confirmUnlessYes } from '../terminal/confirm.ts';
import { printFacts, printProgress } from '../terminal/output.ts';
import { withScheduleFlags } from '../run/run-option-flags.ts';
import { defineSchedule, type ScheduleFlags } from '../schedule/schedule-definition.ts';
import {
  deleteSchedule,
  getSchedule,
  listSchedules,
  putSchedule,
  triggerSchedule,
} from '../schedule/schedule-server.ts';
import {
  describeFoundExport,
  describeSchedules,
  describeSchedule,
  scheduleFactsOf,
} from '../schedule/schedule-view.ts';
import { warnAboutWorkers } from '../session/live-workers.ts';
import {
  withSession,
  type Session,
  readSettings,
  readSettingsOfExistingWarehouse,
} from '../session/session.ts';

export function scheduleCommand(): Command {
  return new Command('schedule')
    .description(
      'Run exports at fixed times, such as every night: Temporal schedules, carried out by workers.',
    )
    .addCommand(setCommand())
    .addCommand(showCommand())
    .addCommand(triggerCommand())
    .addCommand(deleteCommand()).examples(`
  enrich schedule set nightly contacts.csv --cron @daily --max-credits 500
  enrich schedule show`).explain(`
Temporal stores schedules, and workers (enrich worker) run them with their own settings. The Temporal UI pauses, resumes
and backfills a schedule, and so does "temporal schedule" (docs/guides/schedules.md).`);
}

function setCommand(): Command {
  const command = new Command('set')
    .description('Create a schedule, or replace its flags. A paused schedule stays paused.')
    .argument('<name>', 'name of the schedule')
    .argument(
      '[file]',
      'the export: a path that the workers see, https://… or s3://bucket/key; {date} in it becomes the date',
    )
    .requiredOption('--cron <line>', 'times: minute, hour, day of the month, month, day of the week')
    .option('--timezone <name>', 'time zone of --cron and {date} (default: UTC)')
    .option('--newest <pattern>', 'newest file of a pattern, such as "/exports/*.csv" or "s3://crm/*.csv"')
    .option('--every-new <pattern>', 'files of a pattern whose content was not enriched before, oldest first')
    .option('--query <sql>', 'SELECT on the warehouse; {date} becomes the date')
    .addOption(
      new Option('--overlap <policy>', 'next time while a run is in progress (default: skip)').choices([
        'skip',
        'buffer-one',
      ]),
    )
    .option('--catch-up <duration>', 'maximum time that a start may be overdue (default: 1h)')
    .option('--pause-on-failure', 'pause the schedule when a run fails')
    .option('--no-budget', 'permission to run without any budget')
    .json();
  return withScheduleFlags(command)
    .examples(`
  enrich schedule set nightly --cron "0 4 * * *" --timezone Europe/Berlin \\
    --newest "/exports/hubspot-*.csv" --max-credits 500
  enrich schedule set inbox --cron "*/15 * * * *" --max-credits 100 \\
    --every-new "/exports/inbox/*.csv"
  enrich schedule set synced --cron @daily --max-credits 500 \\
    --query "select * from crm.contacts"`)
    .action(async (name: string, file: string | undefined, flags: ScheduleFlags & CommonFlags) => {
      const config = readSettings();
      const definition = await defineSchedule(name, file, flags, hasBudget(config));
      await withSchedules(config, async (session, client) => {
        const created = await putSchedule(client, definition);
        printProgress(`${created ? 'created' : 'replaced'} ${name}`);
        printProgress(await describeFoundExport(session, definition));
        await warnAboutWorkers(session);
        const facts = await scheduleFactsOf(session, await getSchedule(client, name));
        printFacts(flags.json, { ...facts, created }, describeSchedule(facts));
      });
    });
}

function showCommand(): Command {
  return new Command('show')
    .description('Show a schedule: its flags, next times, and last times; or list all schedules.')
    .argument('[name]', 'name of the schedule (default: all schedules, as a list)')
    .json()
    .examples('\n  enrich schedule show\n  enrich schedule show nightly')
    .action(async (name: string | undefined, options: CommonFlags) => {
      await withSchedules(readSettingsOfExistingWarehouse(), async (session, client) => {
        if (name !== undefined) {
          const facts = await scheduleFactsOf(session, await getSchedule(client, name));
          return printFacts(options.json, facts, describeSchedule(facts));
        }
        const facts = [];
        for (const schedule of await listSchedules(client))
          facts.push(await scheduleFactsOf(session, schedule));
        printFacts(options.json, facts, describeSchedules(facts));
      });
    });
}

function triggerCommand(): Command {
  return namedCommand('trigger', 'Start a run of a schedule now, also while the schedule is paused.').action(
    async (name: string, options: CommonFlags) => {
      await withSchedules(readSettingsOfExistingWarehouse(), async (session, client) => {
        const { definition } = await getSchedule(client, name);
        await triggerSchedule(client, definition);
        await warnAboutWorkers(session);
        printProgress(
          `while a run is in progress, the policy ${definition.overlap} holds: enrich schedule show ${name}`,
        );
        printFacts(options.json, { name, triggered: true });
      });
    },
  );
}

function deleteCommand(): Command {
  return namedCommand('delete', 'Delete a schedule. Runs in progress continue.')
    .option('--yes', 'delete without asking')
    .action(async (name: string, options: CommonFlags) => {
      await withSchedules(readSettingsOfExistingWarehouse(), async (_, client) => {
        const known = await getSchedule(client, name);
        const deleted = await confirmUnlessYes(
          `delete the schedule ${name}?`,
          options,
          'nothing was deleted',
        );
        const continuing = deleted ? await deleteSchedule(client, known) : [];
        for (const runId of continuing)
          printProgress(`${runId} has not ended, and continues; to end it: enrich cancel ${runId}`);
        printFacts(options.json, { name, deleted, continuing });
      });
    });
}

/** Makes a command with the name of a schedule as its argument. */
function namedCommand(verb: string, description: string): Command {
  return new Command(verb)
    .description(description)
    .argument('<name>', 'name of the schedule')
    .json()
    .examples(`\n  enrich schedule ${verb} nightly`);
}

function withSchedules(
  config: Config,
  use: (session: Session, client: Client) => Promise<void>,
): Promise<void> {
  return withSession(config, { temporal: true, service: false }, async (session) =>
    use(session, await session.temporal()),
  );
}

/** True if a setting limits the credits of each run or of a period. */
function hasBudget({ budgets }: Config): boolean {
  return [budgets.perRun, ...Object.values(budgets.perPeriod)].some((limit) => limit !== undefined);
}
