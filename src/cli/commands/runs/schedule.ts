import { Command, jsonArrayOption, jsonOption, type JsonFlag, reasonOption } from '../../terminal/command.ts';
import { readClock } from '../../../db/expressions.ts';
import { counted } from '../../../domain/text/counted.ts';
import { isDate, parseMoment } from '../../../domain/text/moment.ts';
import { UsageProblem, exitCodes, type Problem } from '../../../domain/problem.ts';
import { clockIn, startOfDay } from '../../../domain/text/time-zone.ts';
import { agrees } from '../../terminal/confirm.ts';
import { print, printFacts, printJson, tell } from '../../terminal/output.ts';
import { deleteSchedule, openTimesOf } from '../../schedule/delete-schedule.ts';
import { applyCommand, setCommand } from '../../schedule/schedule-change.ts';
import { backfillSchedule, missedTimes, requireDate } from '../../schedule/schedule-backfill.ts';
import { getSchedule, listSchedules, triggerSchedule } from '../../schedule/schedule-server.ts';
import { tellWhatRunsSchedules, whatRunsSchedules, withSchedules } from '../../schedule/schedule-session.ts';
import { describeList, describeSchedule, factsOf } from '../../schedule/schedule-view.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

export function scheduleCommand(): Command {
  const command = new Command('schedule').description(
    'Run exports at fixed times, such as every night: Temporal schedules, carried out by workers.',
  );
  for (const child of [
    setCommand(),
    applyCommand(),
    listCommand(),
    showCommand(),
    pauseCommand(),
    resumeCommand(),
    triggerCommand(),
    backfillCommand(),
    deleteCommand(),
  ])
    command.addCommand(child);
  return command.explain(`
${whatRunsSchedules}

Examples:
  enrich schedule set nightly --cron "0 2 * * *" --newest "/exports/hubspot-*.csv" --max-credits 500
  enrich schedule apply schedules.yaml      schedules in a file under version control
  enrich schedule list`);
}

function listCommand(): Command {
  return withSettings(new Command('list'))
    .description('List schedules with their next and last times.')
    .option(...jsonArrayOption)
    .explain('\nExample:\n  enrich schedule list')
    .action(async (options: { json?: boolean }) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        const schedules = await listSchedules(client);
        const facts = [];
        for (const schedule of schedules) facts.push(await factsOf(session, schedule));
        if (options.json === true) printJson(facts);
        else print(describeList(schedules, facts));
      });
    });
}

function showCommand(): Command {
  return withSettings(new Command('show'))
    .description('Show a schedule: its flags, its next times, and how the last times ended.')
    .argument('<name>', 'name of the schedule')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich schedule show nightly')
    .action(async (name: string, options: { json?: boolean }) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        const facts = await factsOf(session, await getSchedule(client, name));
        printFacts(options.json, facts, describeSchedule(facts));
      });
    });
}

function pauseCommand(): Command {
  return withSettings(new Command('pause'))
    .description('Pause a schedule. Runs in progress continue.')
    .argument('<name>', 'name of the schedule')
    .addOption(reasonOption('reason, shown in the Temporal UI and by show', 'enrich schedule pause'))
    .option(...jsonOption)
    .explain('\nExample:\n  enrich schedule pause nightly --reason "CRM migration"')
    .action(async (name: string, options: { reason: string } & JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        const { paused: wasPaused, note = '' } = (await getSchedule(client, name)).description.state;
        if (!wasPaused) await client.schedule.getHandle(name).pause(options.reason);
        printFacts(
          options.json,
          await factsOf(session, await getSchedule(client, name)),
          (wasPaused ? `${name} is already paused, and the reason stays: ${note}\n` : `${name} is paused; `) +
            `enrich schedule resume ${name} lets it begin runs again`,
        );
      });
    });
}

function resumeCommand(): Command {
  return withSettings(new Command('resume'))
    .description('Resume a paused schedule, from its next time on.')
    .argument('<name>', 'name of the schedule')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich schedule resume nightly')
    .action(async (name: string, options: JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        await getSchedule(client, name);
        await client.schedule.getHandle(name).unpause('enrich schedule resume');
        await tellWhatRunsSchedules(session);
        const facts = await factsOf(session, await getSchedule(client, name));
        printFacts(options.json, facts, describeSchedule(facts));
      });
    });
}

function triggerCommand(): Command {
  return withSettings(new Command('trigger'))
    .description('Start a run of a schedule now, also while the schedule is paused.')
    .argument('<name>', 'name of the schedule')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich schedule trigger nightly')
    .action(async (name: string, options: JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        const known = await getSchedule(client, name);
        await triggerSchedule(client, known);
        await tellWhatRunsSchedules(session);
        const { info, state } = known.description;
        const waits = info.runningActions.length > 0;
        const begins = waits ? ', and begins when the previous time has ended' : '';
        const stays = state.paused
          ? `\n${name} stays paused; to let it begin runs again: enrich schedule resume ${name}`
          : '';
        printFacts(
          options.json,
          { name, triggered: true, waits, paused: state.paused },
          `triggered${begins}; watch it with: enrich schedule show ${name}${stays}`,
        );
      });
    });
}

function backfillCommand(): Command {
  return withSettings(new Command('backfill'))
    .description('Run the missed times of a schedule between two dates, one after another.')
    .argument('<name>', 'name of the schedule')
    .requiredOption(
      '--from <time>',
      'a date in the time zone of the schedule, or a time such as 2026-11-21T02:00:00Z',
    )
    .requiredOption('--to <time>', 'the same; a date includes its whole day, up to now')
    .option(...jsonOption)
    .explain(`
In the path of the export, {date} becomes the date of the missed time. An export without {date} is refused:
each run would read the present file. enrich schedule trigger NAME reads it once.

Example:
  enrich schedule backfill daily --from 2026-11-14 --to 2026-11-20`)
    .action(async (name: string, options: { from: string; to: string } & JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async (session, client) => {
        const { definition } = await getSchedule(client, name);
        requireDate(definition);
        const { timezone } = definition;
        const from = timeOf('--from', options.from, timezone, 0);
        const to = timeOf('--to', options.to, timezone, 1);
        if (from >= to)
          throw wrongTime('--to', `"${options.to}" is not after --from`, 'write a later date or time');
        const now = await readClock(session.warehouse.database);
        const missed = await missedTimes(client, name, { from, to, now });
        await backfillSchedule(client, name, missed);
        await tellWhatRunsSchedules(session);
        const { times } = missed;
        const range = `${clockIn(timezone, times[0]!)} to ${clockIn(timezone, times.at(-1)!)} (${timezone})`;
        printFacts(
          options.json,
          { name, times: times.map((time) => time.toISOString()) },
          `${counted(times.length, 'missed time')} will run, one after another: ${range}; watch them with: ` +
            `enrich schedule show ${name}`,
        );
      });
    });
}

function deleteCommand(): Command {
  return withSettings(new Command('delete'))
    .description('Delete a schedule. Runs in progress continue, unless you cancel them too.')
    .argument('<name>', 'name of the schedule')
    .option('--cancel-runs', 'also cancel runs in progress, and runs that wait for a person')
    .option(...jsonOption)
    .explain(`
On a terminal, the command asks whether to cancel runs in progress. Cancelled runs keep paid results.
A scheduled time that still waits for a worker, and has no run yet, is always cancelled.

Examples:
  enrich schedule delete nightly
  enrich schedule delete nightly --cancel-runs`)
    .action(async (name: string, options: { cancelRuns?: boolean } & JsonFlag) => {
      await withSchedules(settingsOfExisting(options), async ({ warehouse }, client) => {
        const times = await openTimesOf(client, name);
        const runs = times.flatMap((time) => time.runs);
        const cancels = runs.length > 0 && (options.cancelRuns ?? (await agreesToCancel(runs, options)));
        if (cancels === undefined) {
          tell('nothing was changed; --cancel-runs answers the question');
          process.exitCode = exitCodes.needsPerson;
          return;
        }
        const now = await readClock(warehouse.database);
        const { cancelled, continuing, notes } = await deleteSchedule(client, name, times, cancels, now);
        printFacts(
          options.json,
          { name, deleted: true, cancelled: [...cancelled], continuing: [...continuing] },
          `deleted ${name}`,
        );
        for (const note of notes) tell(note);
      });
    });
}

/** @returns false without a terminal; undefined without an answer */
async function agreesToCancel(running: readonly string[], { json }: JsonFlag): Promise<boolean | undefined> {
  if (json === true || !process.stdin.isTTY) return false;
  return agrees(`${running.join(', ')} has not ended: cancel it too?`);
}

/** @param daysOn a date without a time means the beginning of its day (0), or of the following day (1) */
function timeOf(flag: string, text: string, timezone: string, daysOn: 0 | 1): Date {
  if (isDate(text)) {
    const day = new Date(Date.parse(text) + daysOn * 86_400_000);
    return startOfDay(timezone, day.toISOString().slice(0, 10));
  }
  const time = parseMoment(text);
  if (time) return time;
  throw wrongTime(flag, `"${text}" is no date and no time`, 'write 2026-11-21, or 2026-11-21T02:00:00Z');
}

function wrongTime(flag: string, what: string, next: string): Problem {
  return new UsageProblem('setting.invalid', what, { where: flag, next });
}
