import type { ExportChoice, ScheduledRunInput } from '../../contract/run-input.ts';
import { formatDuration, parseDuration } from '../../domain/text/duration.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { canonicalTimeZone } from '../../domain/text/time-zone.ts';
import { refusePersonalColumns } from '../../ingest/columns/chosen-column.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import { requireValidPattern } from '../../ingest/sources/find-export.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import { refuseEncodingOfRows } from '../run/run-spec.ts';
import { flagsOfRun, scheduledOptions } from '../run/run-option-flags.ts';

export interface ScheduleDefinition {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly overlap: 'skip' | 'buffer-one';
  /** How late Temporal may still start a scheduled run that it missed while it was unavailable. */
  readonly catchUpSeconds: number;
  readonly pauseOnFailure: boolean;
  /** What each scheduled run enriches, and its options. */
  readonly work: Omit<ScheduledRunInput, 'schedule' | 'timezone' | 'searchable'>;
}

export interface ScheduleFlags {
  readonly cron: string;
  readonly timezone?: string;
  readonly newest?: string;
  readonly everyNew?: string;
  readonly query?: string;
  readonly overlap?: ScheduleDefinition['overlap'];
  readonly catchUp?: string;
  readonly pauseOnFailure?: boolean;
  /** False with `--no-budget`. */
  readonly budget?: boolean;
}

/** Makes a schedule from flags. @param hasBudget whether the settings, also those of the workers, have a budget */
export async function defineSchedule(
  name: string,
  file: string | undefined,
  flags: ScheduleFlags,
  hasBudget: boolean,
): Promise<ScheduleDefinition> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name))
    throw wrong('NAME', `"${name}" cannot name a schedule`, 'write letters, digits, "_", "-" and "."');
  const options = await scheduledOptions(flags);
  refusePersonalColumns(options.only);
  const noBudget = flags.budget === false;
  if (options.maxCredits === null && !noBudget && !hasBudget) {
    throw wrong(
      '--max-credits',
      'nothing limits what this schedule may spend',
      'add --max-credits N for each run, or set MAX_CREDITS_PER_RUN or MAX_CREDITS_PER_…; or add --no-budget',
      'credits.no-ceiling',
    );
  }
  const choice = choiceOf(file, flags);
  refuseEncodingOfRows(choice.kind, options.mapping?.encoding);
  return {
    name,
    cron: cronOf(flags.cron),
    timezone: timezoneOf(flags.timezone ?? 'UTC'),
    overlap: flags.overlap ?? 'skip',
    catchUpSeconds: parseDuration(flags.catchUp ?? '1h', '--catch-up'),
    pauseOnFailure: flags.pauseOnFailure === true,
    work: { export: choice, ...options, noBudget },
  };
}

/** Returns a schedule as flags and values in a fixed order, without options that the workers' settings decide. */
export function flagsOfSchedule({ work, ...definition }: ScheduleDefinition): Record<string, string> {
  const fields: readonly (readonly [string, string | null | false])[] = [
    ['cron', definition.cron],
    ['timezone', definition.timezone],
    [work.export.kind, work.export.from],
    ['no-budget', work.noBudget && 'yes'],
    ...Object.entries(flagsOfRun(work)),
    ['overlap', definition.overlap],
    ['catch-up', formatDuration(definition.catchUpSeconds)],
    ['pause-on-failure', definition.pauseOnFailure && 'yes'],
  ];
  return Object.fromEntries(fields.flatMap(([flag, value]) => (value ? [[flag, value]] : [])));
}

/** Chooses the export of a schedule. Temporal shows it, so it must not contain secrets or personal data. */
function choiceOf(file: string | undefined, { newest, everyNew, query }: ScheduleFlags): ExportChoice {
  const kinds = { file, newest, 'every-new': everyNew, query };
  const given = Object.entries(kinds) as [ExportChoice['kind'], string | undefined][];
  const [choice, ...others] = given.flatMap(([kind, from]) => (from === undefined ? [] : [{ kind, from }]));
  if (choice === undefined || others.length > 0) {
    const what = choice === undefined ? 'no export' : 'more than one export';
    throw wrong('FILE', `the schedule has ${what}`, 'give FILE, --newest, --every-new or --query');
  }
  const { kind } = choice;
  const from = kind === 'query' ? choice.from : checkedAddress(choice);
  if (withoutPersonalData(from) === from) return { kind, from };
  throw wrong(placeOf(kind), 'this text seems to name a person', 'use a text without personal data');
}

/** Names the argument or flag for errors. */
function placeOf(kind: ExportChoice['kind']): string {
  return kind === 'file' ? 'FILE' : `--${kind}`;
}

/** Returns the address that Temporal may show: an absolute path, or a URL without secrets. @throws UsageProblem */
function checkedAddress({ kind, from: given }: ExportChoice): string {
  const address = parseAddress(given, process.cwd());
  if (address.kind !== 'file' || kind !== 'file') requireValidPattern(address);
  if (address.kind === 'file') return address.path;
  // A date replaces the placeholder {date}, which could be taken for a secret in the URL.
  const dated = parseAddress(given.replaceAll('{date}', '2026-11-21'), '/');
  if (address.kind === 's3' || (address.kind === 'http' && dated.canBeFetchedAgain)) return given;
  throw wrong(
    placeOf(kind),
    'a schedule cannot use this export: Temporal shows schedules with their logins and signatures',
    'name a file, s3://bucket/key, or https://… without a login',
  );
}

/** Refuses a cron line with both days set: cron fires if one of them fits, Temporal only if both do. */
function cronOf(line: string): string {
  const trimmed = line.trim();
  const [, , day, , weekday] = trimmed.split(/\s+/);
  const hasFive = /^(\S+\s+){4}\S+$/.test(trimmed) && (day === '*' || weekday === '*');
  if (hasFive || /^@(hourly|daily|weekly|monthly|yearly)$/.test(trimmed)) return trimmed;
  throw wrong(
    '--cron',
    `"${trimmed}" is not minute, hour, day of the month, month, day of the week, with * for one of the two days`,
    'write it as in "0 2 * * *" (every night at two), or @daily',
  );
}

function timezoneOf(name: string): string {
  const zone = canonicalTimeZone(name);
  if (zone !== undefined) return zone;
  throw wrong('--timezone', `there is no time zone "${name}"`, 'write it as in Europe/Berlin, or UTC');
}

function wrong(where: string, what: string, next: string, type = 'schedule.invalid'): Problem {
  return new UsageProblem(type, what, { where, next });
}
