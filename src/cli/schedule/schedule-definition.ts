import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { ExportChoice, ScheduledRunInput } from '../../contract/scheduled-run-input.ts';
import { formatDuration, parseDuration } from '../../domain/text/duration.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { timeZoneNamed } from '../../domain/text/time-zone.ts';
import { refusePersonalNames } from '../../ingest/columns/chosen-column.ts';
import { canBeFetchedAgain, parseAddress } from '../../ingest/sources/export-address.ts';
import { checkPattern } from '../../ingest/sources/find-export.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import { scheduleKeys, scheduledOptions, shownOptions } from '../run-options/read-run-options.ts';
import { readYamlFile } from '../terminal/command.ts';

/** A schedule as its flags or its file define it. */
export interface ScheduleDefinition {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  /** What happens at a time while the run of the previous time is in progress. */
  readonly overlap: 'skip' | 'buffer-one';
  /** How long a start may be overdue after Temporal was unavailable. */
  readonly catchUpSeconds: number;
  readonly pauseOnFailure: boolean;
  readonly work: ScheduledWork;
}

/** The export and the options of every run of a schedule. */
export type ScheduledWork = Omit<ScheduledRunInput, 'schedule' | 'timezone' | 'searchable' | 'service'>;

const text = z.union([z.string(), z.number()]).transform(String);

const ownFields = {
  file: text.optional(),
  newest: text.optional(),
  'every-new': text.optional(),
  query: text.optional(),
  cron: text,
  timezone: text.optional(),
  overlap: z.enum(['skip', 'buffer-one'], { error: 'must be skip or buffer-one' }).optional(),
  'catch-up': text.optional(),
  'pause-on-failure': z.boolean().optional(),
  'no-budget': z.boolean().optional(),
};

/** The fields of a run's options. */
const optionFields: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  scheduleKeys.map(({ key, choices, isRepeatable }) => {
    if (choices) return [key, z.enum(choices, { error: `must be ${choices.join(' or ')}` }).optional()];
    return [key, isRepeatable ? z.union([text, z.array(text)]).optional() : text.optional()];
  }),
);

/** The flags of `enrich schedule set`, which are also the keys of a schedule in a file. */
export const scheduleFields = z.strictObject({ ...optionFields, ...ownFields });

type ScheduleFields = z.infer<typeof scheduleFields>;

interface DefinitionContext {
  /** Base of relative paths. */
  readonly folder: string;
  readonly group: string | null;
  /** Whether this command's settings have a budget. The workers' settings are assumed to have the same. */
  readonly hasBudget: boolean;
}

/** Temporal's shortest. A shorter one of a file would show as a difference after each `enrich schedule apply`. */
const shortestCatchUpSeconds = 10;

/**
 * Checks and reads the definition of a schedule.
 *
 * @param given flags, or an entry of a file
 * @throws Problem that names the flag
 */
export async function defineSchedule(
  name: string,
  given: unknown,
  context: DefinitionContext,
): Promise<ScheduleDefinition> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name))
    throw wrong('name', `"${name}" cannot name a schedule`, 'write letters, digits, "_", "-" and "."');
  const result = scheduleFields.safeParse(given);
  if (!result.success) throw wrongField(result.error.issues[0]!);
  const fields = result.data;
  const options = await scheduledOptions(flagsOf(fields, context.folder));
  refusePersonalNames(options.only);
  const noBudget = fields['no-budget'] === true;
  if (options.maxCredits === null && !noBudget && !context.hasBudget) {
    throw wrong(
      'max-credits',
      'nothing limits what this schedule may spend',
      'add --max-credits N for each run, or set MAX_CREDITS_PER_RUN or MAX_CREDITS_PER_…; or add --no-budget',
      'credits.no-ceiling',
    );
  }
  const choice = choiceOf(fields, context.folder);
  if (options.mapping?.encoding !== undefined && choice.kind === 'query')
    throw wrong('mapping', 'rows of the database have no encoding', 'remove it from the mapping file');
  return {
    name,
    cron: cronOf(fields.cron),
    timezone: timezoneOf(fields.timezone ?? 'UTC'),
    overlap: fields.overlap ?? 'skip',
    catchUpSeconds: Math.max(shortestCatchUpSeconds, parseDuration(fields['catch-up'] ?? '1h', '--catch-up')),
    pauseOnFailure: fields['pause-on-failure'] === true,
    work: { group: context.group, export: choice, ...options, noBudget },
  };
}

/** A field as commander names its flag. */
export function flagName(field: string): string {
  return field.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function flagsOf(fields: ScheduleFields, folder: string): object {
  const flags = Object.fromEntries(Object.entries(fields).map(([field, value]) => [flagName(field), value]));
  return typeof flags['mapping'] === 'string'
    ? { ...flags, mapping: resolve(folder, flags['mapping']) }
    : flags;
}

/** A schedule as flags and values, in a fixed order. Options that the workers' settings decide are left out. */
export function fieldsOf({ work, ...definition }: ScheduleDefinition): ReadonlyMap<string, string> {
  const fields: readonly (readonly [string, string | null | false])[] = [
    ['cron', definition.cron],
    ['timezone', definition.timezone],
    [work.export.kind, work.export.from],
    ['no-budget', work.noBudget && 'yes'],
    ...shownOptions(work),
    ['overlap', definition.overlap],
    ['catch-up', formatDuration(definition.catchUpSeconds)],
    ['pause-on-failure', definition.pauseOnFailure && 'yes'],
    ['group', work.group],
  ];
  return new Map(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

const choiceKinds = ['file', 'newest', 'every-new', 'query'] as const;

/** Checks the address of an export: Temporal shows it, so it must hold no secrets and no personal data. */
function choiceOf(fields: ScheduleFields, folder: string): ExportChoice {
  const [kind, ...others] = choiceKinds.filter((each) => fields[each] !== undefined);
  if (kind === undefined || others.length > 0) {
    const what = kind === undefined ? 'no export' : 'more than one export';
    throw wrong('file', `the schedule has ${what}`, 'give FILE, --newest, --every-new or --query');
  }
  const from = kind === 'query' ? fields[kind]! : checkedAddress(kind, fields[kind]!, folder);
  if (withoutPersonalData(from) === from) return { kind, from };
  throw wrong(kind, 'this text seems to name a person', 'use a text without personal data');
}

function checkedAddress(kind: ExportChoice['kind'], given: string, folder: string): string {
  const address = parseAddress(given, folder);
  if (address.kind !== 'file' || kind !== 'file') checkPattern(address);
  if (address.kind === 'file') return address.path;
  // The placeholder {date} must not count as a secret in the address.
  const dated = parseAddress(given.replaceAll('{date}', '2026-11-21'), '/');
  if (address.kind === 's3' || (address.kind === 'http' && canBeFetchedAgain(dated))) return given;
  throw wrong(
    kind,
    'a schedule cannot use this export: Temporal shows schedules with their logins and signatures',
    'name a file, s3://bucket/key, or https://… without a login',
  );
}

/** Cron fires on a day of the month or of the week, Temporal only on a day that is both. It checks the rest. */
function cronOf(line: string): string {
  const trimmed = line.trim();
  const [, , day, , weekday] = trimmed.split(/\s+/);
  const hasFive = /^(\S+\s+){4}\S+$/.test(trimmed);
  if (
    /^@(hourly|daily|weekly|monthly|yearly)$/.test(trimmed) ||
    (hasFive && (day === '*' || weekday === '*'))
  )
    return trimmed;
  throw wrong(
    'cron',
    hasFive
      ? `"${trimmed}" has a day of the month and a day of the week: write * for one of the two`
      : `"${trimmed}" does not have the five fields minute, hour, day of the month, month, day of the week`,
    'write it as in "0 2 * * *" (every night at two), or @daily',
  );
}

function timezoneOf(name: string): string {
  const zone = timeZoneNamed(name);
  if (zone !== undefined) return zone;
  throw wrong('timezone', `there is no time zone "${name}"`, 'write it as in Europe/Berlin, or UTC');
}

function wrongField(issue: z.core.$ZodIssue): Problem {
  const next = 'enrich schedule set --help lists the keys and their values';
  if (issue.code === 'unrecognized_keys') return wrong(issue.keys[0]!, 'a schedule has no such key', next);
  const field = String(issue.path[0] ?? '');
  if (field === 'cron') return wrong(field, 'a schedule needs a cron line', 'write --cron "0 2 * * *"');
  return wrong(field, `the value is wrong: ${issue.message}`, next);
}

function wrong(field: string, what: string, next: string, type = 'schedule.invalid'): Problem {
  const where = field === 'name' || field === 'file' ? field.toUpperCase() : `--${field}`;
  return new UsageProblem(type, what, { where, next });
}

interface ScheduleFile {
  /** Marks the schedules of this file. Applying the file deletes only schedules of this group. */
  readonly group: string;
  readonly schedules: readonly ScheduleDefinition[];
}

const fileSchema = z.strictObject({
  group: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, "_", "-" and "."')
    .optional(),
  schedules: z.record(z.string(), z.unknown()),
});

/**
 * Reads a schedule file. Paths in the file are relative to its folder.
 *
 * @throws Problem `schedule.file`, and what `defineSchedule` throws, with the name of the schedule
 */
export async function readScheduleFile(
  path: string,
  settings: { readonly hasBudget: boolean },
): Promise<ScheduleFile> {
  const wrongFile = (what: string, cause?: unknown): Problem =>
    new UsageProblem('schedule.file', what, {
      where: path,
      next: 'write "schedules:", and below it each name with its flags; docs/schedules.md has an example',
      cause,
    });
  const content = fileSchema.safeParse(await readYamlFile(path, 'the schedule file', wrongFile));
  if (!content.success) {
    const [{ path: key, message }] = content.error.issues as [z.core.$ZodIssue];
    throw wrongFile(`the schedule file is wrong: ${[...key, message].join(': ')}`);
  }
  const group = content.data.group ?? basename(path).replace(/\.ya?ml$/i, '');
  const context = { folder: dirname(resolve(path)), group, hasBudget: settings.hasBudget };
  const schedules: ScheduleDefinition[] = [];
  for (const [name, given] of Object.entries(content.data.schedules))
    schedules.push(
      await defineSchedule(name, given, context).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        // In a file, the flag or the argument is a key.
        const key = error.where?.replace(/^--/, '').replace(/^(?:NAME|FILE)$/, (word) => word.toLowerCase());
        const where = `${path}, schedule ${name}: ${key ?? ''}`;
        throw new UsageProblem(error.type, error.message, { where, next: error.next, cause: error });
      }),
    );
  return { group, schedules };
}

/** The changes that make the schedules match a file. */
interface ScheduleChanges {
  readonly create: readonly ScheduleDefinition[];
  readonly update: readonly {
    readonly definition: ScheduleDefinition;
    readonly changes: readonly string[];
  }[];
  readonly delete: readonly string[];
}

/**
 * Compares a file with the existing schedules.
 *
 * @param present all schedules of the product, from this file or not
 */
export function changesTo(file: ScheduleFile, present: readonly ScheduleDefinition[]): ScheduleChanges {
  const byName = new Map(present.map((definition) => [definition.name, definition]));
  const wanted = file.schedules.map(({ name }) => name);
  return {
    create: file.schedules.filter(({ name }) => !byName.has(name)),
    update: file.schedules.flatMap((definition) => {
      const before = byName.get(definition.name);
      const changes = before ? differences(before, definition) : [];
      return changes.length === 0 ? [] : [{ definition, changes }];
    }),
    delete: present
      .filter(({ name, work }) => work.group === file.group && !wanted.includes(name))
      .map(({ name }) => name),
  };
}

/** One line for each flag that differs. */
export function differences(before: ScheduleDefinition, after: ScheduleDefinition): string[] {
  const old = fieldsOf(before);
  const fresh = fieldsOf(after);
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((field) => old.get(field) !== fresh.get(field))
    .map((field) => `${field}: ${old.get(field) ?? 'not set'} → ${fresh.get(field) ?? 'not set'}`);
}

/** Formats changes for a person, before they are applied. Empty: nothing changes. */
export function describeChanges(changes: ScheduleChanges): string {
  return [
    ...changes.create.flatMap((definition) => [
      `+ ${definition.name}`,
      ...[...fieldsOf(definition)].map(([field, value]) => `    ${field}: ${value}`),
    ]),
    ...changes.update.flatMap(({ definition, changes: fields }) => [
      `~ ${definition.name}`,
      ...fields.map((field) => `    ${field}`),
    ]),
    ...changes.delete.map((name) => `- ${name}`),
  ].join('\n');
}
