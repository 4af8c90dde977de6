import type { Client } from '@temporalio/client';
import { Command, jsonOption, type JsonFlag } from '../terminal/command.ts';
import { serviceName, type Config } from '../../config/settings.ts';
import { readClock } from '../../db/expressions.ts';
import { exitCodes } from '../../domain/problem.ts';
import { skippedTimes } from '../../domain/text/cron.ts';
import { agrees } from '../terminal/confirm.ts';
import { print, printFacts, printJson, tell } from '../terminal/output.ts';
import { deleteSchedule, openTimesOf } from './delete-schedule.ts';
import { withScheduleFlags } from '../run-options/read-run-options.ts';
import { defineSchedule, flagName, scheduleFields, type ScheduleDefinition } from './schedule-definition.ts';
import { changesTo, describeChanges, differences, readScheduleFile } from './schedule-file.ts';
import { outlookOf } from './schedule-outlook.ts';
import {
  findSchedule,
  getSchedule,
  listSchedules,
  putSchedule,
  type KnownSchedule,
} from './schedule-server.ts';
import { tellWhatRunsSchedules, whatRunsSchedules, withSchedules } from './schedule-session.ts';
import { describeSchedule, factsOf } from './schedule-view.ts';
import type { Session } from '../session/session.ts';
import { settingsOf, withSettings } from '../session/settings-flags.ts';

export function setCommand(): Command {
  return withScheduleFlags(withSettings(new Command('set')))
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
    .option('--newest-by <what>', 'order of --newest: time (of the last change) or name (default: time)')
    .option('--every-new <pattern>', 'files of a pattern whose content was not enriched before, oldest first')
    .option('--from-table <name>', 'table of the warehouse, such as crm.contacts')
    .option('--query <sql>', 'SELECT on the warehouse; {date} becomes the date')
    .option('--no-budget', 'permission to run without any budget')
    .option('--overlap <policy>', 'next time while a run is in progress: skip, buffer-one (default: skip)')
    .option('--catch-up <duration>', 'maximum time that a start may be overdue (default: 1h)')
    .option('--jitter <duration>', 'maximum random delay of the start')
    .option('--pause-on-failure', 'pause the schedule when a run fails')
    .option(...jsonOption)
    .explain(`
${whatRunsSchedules}

Examples:
  enrich schedule set nightly --cron "0 4 * * *" --timezone Europe/Berlin \\
    --newest "/exports/hubspot-*.csv" --max-credits 500
  enrich schedule set inbox --cron "*/15 * * * *" --every-new "/exports/inbox/*.csv" --max-credits 100
  enrich schedule set synced --cron "0 3 * * *" --from-table crm.contacts --max-credits 500
  enrich schedule set daily "/exports/{date}/contacts.csv" --cron @daily --max-credits 500 --overlap buffer-one`)
    .action(async (name: string, file: string | undefined, options: Readonly<Record<string, unknown>>) => {
      const config = settingsOf(options);
      const given = { ...fieldsGiven(options), ...(file !== undefined && { file }) };
      const context = { folder: process.cwd(), group: null, hasBudget: hasBudget(config) };
      const wanted = await defineSchedule(name, given, context);
      await withSchedules(config, async (session, client) => {
        const known = await findSchedule(client, name);
        // The schedule stays in the group of its file: the next apply shows these changes.
        const definition = {
          ...wanted,
          work: { ...wanted.work, group: known?.definition.work.group ?? null },
        };
        const before = await putSchedule(client, definition, serviceOf(session));
        const changes = before && differences(before, definition);
        tell(
          changes === undefined
            ? `created ${name}`
            : [`${name} ${changes.length === 0 ? 'is as it was' : 'is changed'}`, ...changes].join('\n  '),
        );
        const schedule = await getSchedule(client, name);
        await tellOutlook(session, schedule);
        await tellWhatRunsSchedules(session);
        const facts = await factsOf(session, schedule);
        printFacts(
          options['json'] === true,
          { ...facts, created: changes === undefined, changes: changes ?? [] },
          describeSchedule(facts),
        );
      });
    });
}

export function applyCommand(): Command {
  return withSettings(new Command('apply'))
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
        const present = await presentSchedules(client, file.schedules);
        const changes = changesTo(file, present);
        const answer = (applied: boolean, text: string): void => {
          if (options.json !== true) return applied ? print(text) : tell(text);
          printJson({
            applied,
            created: changes.create.map((definition) => definition.name),
            changed: changes.update.map(({ definition }) => definition.name),
            deleted: changes.delete,
          });
        };
        if (options.json !== true) print(describeChanges(changes));
        const due = [...changes.create, ...changes.update.map(({ definition }) => definition)];
        if (due.length + changes.delete.length === 0) return answer(false, 'nothing to change');
        if (options.yes !== true && !(await agrees('apply these changes?'))) {
          answer(false, 'nothing was changed; repeat the command with --yes to apply the changes');
          process.exitCode = exitCodes.needsPerson;
          return;
        }
        for (const definition of due) await put(session, client, definition);
        for (const name of changes.delete) {
          const now = await readClock(session.warehouse.database);
          const times = await openTimesOf(client, name);
          const { notes } = await deleteSchedule(client, name, times, false, now);
          for (const note of notes) tell(note);
        }
        await tellWhatRunsSchedules(session);
        answer(
          true,
          `${changes.create.length} created, ${changes.update.length} changed, ${changes.delete.length} deleted`,
        );
      });
    });
}

/** The flags of `set` that are keys of a schedule, by the names that they have in a file. */
function fieldsGiven(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.keys(scheduleFields.shape).map((field) => [field, options[flagName(field)]] as const);
  const given = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  return options['budget'] === false ? { ...given, 'no-budget': true } : given;
}

/** Creates or changes a schedule of a file, and says what it will do. */
async function put(session: Session, client: Client, definition: ScheduleDefinition): Promise<void> {
  const { name, cron, timezone } = definition;
  await putSchedule(client, definition, serviceOf(session));
  await tellOutlook(session, await getSchedule(client, name));
  for (const skipped of skippedTimes(cron, timezone, new Date())) tell(`note: ${name} ${skipped}`);
}

/**
 * Reads the schedules of the server. The schedules that the file names are read one by one, because Temporal's list
 * lacks the latest changes for some seconds.
 */
async function presentSchedules(
  client: Client,
  wanted: readonly ScheduleDefinition[],
): Promise<KnownSchedule[]> {
  const present = new Map<string, KnownSchedule>();
  for (const known of await listSchedules(client)) present.set(known.definition.name, known);
  for (const { name } of wanted) {
    if (present.has(name)) continue;
    const known = await findSchedule(client, name);
    if (known) present.set(name, known);
  }
  return [...present.values()];
}

/** The service that a worker must have to run the schedule. Null on a server: any of its workers may. */
function serviceOf({ config, stack }: Session): string | null {
  return stack.temporal.embedded ? serviceName(config) : null;
}

function hasBudget({ budgets }: Config): boolean {
  return [budgets.perRun, ...Object.values(budgets.perPeriod)].some((limit) => limit !== undefined);
}

async function tellOutlook(session: Session, { definition, description }: KnownSchedule): Promise<void> {
  for (const line of await outlookOf(session, definition, description.info.nextActionTimes)) tell(line);
}
