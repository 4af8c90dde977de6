import type { Client } from '@temporalio/client';
import { Command, jsonOption, type JsonFlag } from '../terminal/command.ts';
import { serviceName, type Config } from '../../config/settings.ts';
import { readClock } from '../../db/expressions.ts';
import { isWorkerThere } from '../../temporal/connection.ts';
import { approves } from '../terminal/confirm.ts';
import { print, printFacts, printJson, tell } from '../terminal/output.ts';
import { withScheduleFlags } from '../run-options/read-run-options.ts';
import { warnOfPlainText, warnWithoutWorker } from '../run/follow-run.ts';
import {
  changesTo,
  defineSchedule,
  describeChanges,
  differences,
  flagName,
  readScheduleFile,
  scheduleFields,
} from '../schedule/schedule-definition.ts';
import {
  deleteSchedule,
  findSchedule,
  getSchedule,
  listSchedules,
  putSchedule,
  triggerSchedule,
  type DeletedSchedule,
  type KnownSchedule,
} from '../schedule/schedule-server.ts';
import { describeFoundExport, describeList, describeSchedule, factsOf } from '../schedule/schedule-view.ts';
import { withSession, type Session } from '../session/session.ts';
import { settingsOf, settingsOfExisting } from '../session/settings-flags.ts';

const whatRunsSchedules = `\
Temporal stores schedules, and workers (enrich worker) run them with their own settings.
Without TEMPORAL_ADDRESS the embedded server stores schedules, and they begin runs only while "enrich dev" or
"enrich run" is running with the same data folder.`;

export function scheduleCommand(): Command {
  const command = new Command('schedule').description(
    'Run exports at fixed times, such as every night: Temporal schedules, carried out by workers.',
  );
  for (const child of [setCommand(), applyCommand(), showCommand(), triggerCommand(), deleteCommand()])
    command.addCommand(child);
  return command.explain(`
${whatRunsSchedules}
The Temporal UI pauses, resumes and backfills a schedule, and so does "temporal schedule" (docs/schedules.md).

Examples:
  enrich schedule set nightly --cron "0 2 * * *" --newest "/exports/hubspot-*.csv" --max-credits 500
  enrich schedule apply schedules.yaml      schedules in a file under version control
  enrich schedule show`);
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
    .option(
      '--newest <pattern>',
      'newest file of a pattern, such as "/exports/hubspot-*.csv" or "s3://crm/*.csv"',
    )
    .option('--every-new <pattern>', 'files of a pattern whose content was not enriched before, oldest first')
    .option('--query <sql>', 'SELECT on the warehouse; {date} becomes the date')
    .option('--overlap <policy>', 'next time while a run is in progress: skip, buffer-one (default: skip)')
    .option('--catch-up <duration>', 'maximum time that a start may be overdue (default: 1h)')
    .option('--pause-on-failure', 'pause the schedule when a run fails')
    .option('--no-budget', 'permission to run without any budget')
    .option(...jsonOption);
  return withScheduleFlags(command)
    .explain(`
${whatRunsSchedules}

Examples:
  enrich schedule set nightly --cron "0 4 * * *" --timezone Europe/Berlin \\
    --newest "/exports/hubspot-*.csv" --max-credits 500
  enrich schedule set inbox --cron "*/15 * * * *" --every-new "/exports/inbox/*.csv" --max-credits 100
  enrich schedule set synced --cron "0 3 * * *" --query "select * from crm.contacts" --max-credits 500
  enrich schedule set daily "/exports/{date}/contacts.csv" --cron @daily --max-credits 500 --overlap buffer-one`)
    .action(async (name: string, file: string | undefined, options: Readonly<Record<string, unknown>>) => {
      const config = settingsOf(options);
      const given = { ...fieldsGiven(options), ...(file !== undefined && { file }) };
      const context = { folder: process.cwd(), group: null, hasBudget: hasBudget(config) };
      const wanted = await defineSchedule(name, given, context);
      await withSchedules(config, async (session, client) => {
        const known = await findSchedule(client, name);
        // The schedule stays in the group of its file: the next apply shows these changes.
        const group = known?.definition.work.group ?? null;
        const definition = { ...wanted, work: { ...wanted.work, group } };
        const before = await putSchedule(client, definition, serviceOf(session));
        const changes = before ? differences(before, definition) : [];
        tell([before ? `replaced ${name}` : `created ${name}`, ...changes].join('\n  '));
        tell(await describeFoundExport(session, definition));
        await tellWhatRunsSchedules(session);
        const facts = await factsOf(session, await getSchedule(client, name));
        printFacts(
          options['json'] === true,
          { ...facts, created: before === undefined, changes },
          describeSchedule(facts),
        );
      });
    });
}

function applyCommand(): Command {
  return new Command('apply')
    .description('Create, change and delete schedules to match a file, after showing the differences.')
    .argument('<file>', 'YAML file of schedules')
    .option('--yes', 'apply without asking')
    .option(...jsonOption)
    .explain(`
The command deletes only schedules of the file's group: its key "group", or without one the file's name.
Without a terminal and without --yes, the command shows the difference, changes nothing and exits with code 3.

schedules.yaml:
  schedules:
    nightly-hubspot:
      cron: 0 4 * * *
      timezone: Europe/Berlin
      newest: /exports/hubspot-*.csv
      max-credits: 500
      pause-on-failure: true

Example:
  enrich schedule apply schedules.yaml --yes`)
    .action(async (path: string, options: { yes?: boolean } & JsonFlag) => {
      const config = settingsOf(options);
      const file = await readScheduleFile(path, { hasBudget: hasBudget(config) });
      await withSchedules(config, async (session, client) => {
        const present = await presentSchedules(
          client,
          file.schedules.map(({ name }) => name),
        );
        const changes = changesTo(
          file,
          present.map(({ definition }) => definition),
        );
        const changed = changes.update.map(({ definition }) => definition);
        const difference = describeChanges(changes);
        const ends = { unchanged: 'nothing was changed', yes: 'applies the changes' };
        if (options.json !== true) print(difference || 'nothing to change');
        const isApplied = difference !== '' && (await approves('apply these changes?', options, ends));
        // A schedule without a difference is written as well: with the keys of now, for one.
        if (isApplied || difference === '')
          for (const definition of file.schedules) await putSchedule(client, definition, serviceOf(session));
        if (isApplied) {
          for (const definition of [...changes.create, ...changed])
            tell(await describeFoundExport(session, definition));
          for (const known of present)
            if (changes.delete.includes(known.definition.name))
              tellContinuing(await deleteSchedule(client, known));
          await tellWhatRunsSchedules(session);
        }
        const [created, updated] = [changes.create, changed].map((each) => each.map(({ name }) => name));
        if (options.json === true)
          printJson({ applied: isApplied, created, changed: updated, deleted: changes.delete });
        else if (isApplied)
          print(`${created!.length} created, ${updated!.length} changed, ${changes.delete.length} deleted`);
      });
    });
}

function showCommand(): Command {
  return new Command('show')
    .description('Show a schedule: its flags, next times, and last times; or list all schedules.')
    .argument('[name]', 'name of the schedule (default: all schedules, as a list)')
    .option(...jsonOption)
    .explain('\nExamples:\n  enrich schedule show\n  enrich schedule show nightly')
    .action(async (name: string | undefined, options: JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        if (name !== undefined) {
          const facts = await factsOf(session, await getSchedule(client, name));
          return printFacts(options.json, facts, describeSchedule(facts));
        }
        const facts = [];
        for (const schedule of await listSchedules(client)) facts.push(await factsOf(session, schedule));
        printFacts(options.json, facts, describeList(facts));
      });
    });
}

function triggerCommand(): Command {
  return namedCommand('trigger', 'Start a run of a schedule now, also while the schedule is paused.').action(
    async (name: string, options: JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        const known = await getSchedule(client, name);
        const waits = await triggerSchedule(client, known);
        await tellWhatRunsSchedules(session);
        const { paused } = known.description.state;
        const when = waits ? ', and begins when the previous time has ended' : '';
        printFacts(
          options.json,
          { name, triggered: true, waits, paused },
          `triggered${when}; watch it with: enrich schedule show ${name}${paused ? `\n${name} stays paused` : ''}`,
        );
      });
    },
  );
}

function deleteCommand(): Command {
  return namedCommand('delete', 'Delete a schedule. Runs in progress continue.')
    .option('--yes', 'delete without asking')
    .action(async (name: string, options: { yes?: boolean } & JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (_, client) => {
        const known = await getSchedule(client, name);
        const ends = { unchanged: 'nothing was deleted', yes: 'deletes the schedule' };
        if (!(await approves(`delete the schedule ${name}?`, options, ends))) return;
        const deleted = await deleteSchedule(client, known);
        const { cancelled, continuing } = deleted;
        printFacts(options.json, { name, deleted: true, cancelled, continuing }, `deleted ${name}`);
        tellContinuing(deleted);
      });
    });
}

function namedCommand(verb: string, description: string): Command {
  return new Command(verb)
    .description(description)
    .argument('<name>', 'name of the schedule')
    .option(...jsonOption)
    .explain(`\nExample:\n  enrich schedule ${verb} nightly`);
}

/** Opens a session with Temporal and the warehouse, without the service. */
function withSchedules(
  config: Config,
  use: (session: Session, client: Client) => Promise<void>,
): Promise<void> {
  return withSession(config, { temporal: true, service: false }, async (session) =>
    use(session, await session.temporal()),
  );
}

/** The flags of `set` that are keys of a schedule, by the names that they have in a file. */
function fieldsGiven(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.keys(scheduleFields.shape).map((field) => [field, options[flagName(field)]] as const);
  const given = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  return options['budget'] === false ? { ...given, 'no-budget': true } : given;
}

/**
 * Reads the schedules of the server. The schedules that the file names are read one by one, because Temporal's list
 * lacks the latest changes for some seconds.
 */
async function presentSchedules(client: Client, names: readonly string[]): Promise<KnownSchedule[]> {
  const present = await listSchedules(client);
  for (const name of names) {
    if (present.some(({ definition }) => definition.name === name)) continue;
    const known = await findSchedule(client, name);
    if (known) present.push(known);
  }
  return present;
}

/** The service that a worker must have to run the schedule. Null on a server: any of its workers may. */
function serviceOf({ config, stack }: Session): string | null {
  return stack.temporal.embedded ? serviceName(config) : null;
}

function hasBudget({ budgets }: Config): boolean {
  return [budgets.perRun, ...Object.values(budgets.perPeriod)].some((limit) => limit !== undefined);
}

function tellContinuing({ cancelled, runs }: DeletedSchedule): void {
  for (const id of cancelled) tell(`${id} has begun no run: it is cancelled as soon as a worker is there`);
  for (const runId of runs) tell(`${runId} has not ended, and continues; to end it: enrich cancel ${runId}`);
}

/** Warns if scheduled times have no worker, or have one only until a command ends. */
async function tellWhatRunsSchedules(session: Session): Promise<void> {
  if (!session.stack.temporal.embedded) {
    await warnOfPlainText(session);
    await warnWithoutWorker(session);
    return;
  }
  // Such as the worker of enrich dev.
  if (await isWorkerThere(await session.temporal(), await readClock(session.warehouse.database))) return;
  tell(
    'without TEMPORAL_ADDRESS a schedule begins runs, and a triggered run works, only while enrich dev or enrich run ' +
      'is running with the same data folder: start enrich dev in another terminal',
  );
}
