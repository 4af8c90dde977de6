import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { ExportChoice, ScheduledRunInput } from '../../contract/scheduled-run-input.ts';
import { cronMistake } from '../../domain/text/cron.ts';
import { formatDuration, parseDuration } from '../../domain/text/duration.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { nearestText } from '../../domain/text/nearest-text.ts';
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
  if (options.mapping?.encoding !== undefined && choice.kind === 'query') {
    throw wrong(
      'mapping',
      'rows of the database have no encoding of their own',
      'remove encoding from the mapping file',
    );
  }
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

function choiceOf(fields: ScheduleFields, folder: string): ExportChoice {
  const [kind, ...others] = choiceKinds.filter((each) => fields[each] !== undefined);
  if (kind === undefined || others.length > 0) {
    throw wrong(
      'file',
      kind === undefined ? 'the schedule has no export' : 'the schedule has more than one export',
      'give FILE, --newest, --every-new or --query',
    );
  }
  return { kind, from: placeOf(kind, fields[kind]!, folder) };
}

/** Checks the address of an export: Temporal shows it, so it must hold no secrets and no personal data. */
function placeOf(kind: ExportChoice['kind'], given: string, folder: string): string {
  const from = kind === 'query' ? given : checkedAddress(kind, given, folder);
  if (withoutPersonalData(from) === from) return from;
  throw wrong(
    kind,
    'this text seems to name a person',
    'use a text without personal data: Temporal shows it',
  );
}

function checkedAddress(kind: ExportChoice['kind'], given: string, folder: string): string {
  const address = parseAddress(given, folder);
  if (address.kind === 'file') {
    if (kind !== 'file') checkPattern(address);
    return address.path;
  }
  checkPattern(address);
  if (address.kind === 's3' || (address.kind === 'http' && canBeFetchedByAll(given))) return given;
  throw address.kind === 'http'
    ? wrong(
        kind,
        'the address has a login, or a possible signature, and Temporal shows schedules to all its users',
        'use an s3:// address, or a file that another program downloads',
      )
    : wrong(kind, 'a schedule cannot use this export', 'name a file, https://… or s3://bucket/key');
}

/** The placeholder {date} must not count as a secret in the address. */
function canBeFetchedByAll(address: string): boolean {
  return canBeFetchedAgain(parseAddress(address.replaceAll('{date}', '2026-11-21'), '/'));
}

function cronOf(line: string): string {
  const trimmed = line.trim();
  const mistake = cronMistake(trimmed);
  if (mistake === undefined) return trimmed;
  throw wrong(
    'cron',
    `"${trimmed}" ${mistake}`,
    'write it as in "0 2 * * *" (every night at two), or @daily',
  );
}

function timezoneOf(name: string): string {
  const zone = timeZoneNamed(name);
  if (zone !== undefined) return zone;
  throw wrong('timezone', `there is no time zone "${name}"`, 'write it as in Europe/Berlin, or UTC');
}

function wrongField(issue: z.core.$ZodIssue): Problem {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const nearest = nearestText(key, Object.keys(scheduleFields.shape));
    const next =
      nearest === undefined ? 'enrich schedule set --help lists the keys' : `did you mean ${nearest}?`;
    return wrong(key, 'a schedule has no such key', next);
  }
  const field = String(issue.path[0] ?? '');
  const missing = field === 'cron' && issue.code === 'invalid_union';
  return wrong(
    field,
    missing ? 'a schedule needs a cron line' : `the value is wrong: ${issue.message}`,
    missing ? 'write --cron "0 2 * * *"' : 'enrich schedule set --help describes the values',
  );
}

/** Arguments of `enrich schedule set`. All other fields are flags. */
const scheduleArguments = ['name', 'file'];

function wrong(field: string, what: string, next: string, type = 'schedule.invalid'): Problem {
  const where = scheduleArguments.includes(field) ? field.toUpperCase() : `--${field}`;
  return new UsageProblem(type, what, { where, next });
}

interface ScheduleFile {
  /** Marks the schedules of this file. Applying the file deletes only schedules of this group. */
  readonly group: string;
  readonly schedules: readonly ScheduleDefinition[];
}

/** The changes that make the schedules match a file. */
interface ScheduleChanges {
  readonly create: readonly ScheduleDefinition[];
  readonly update: readonly {
    readonly definition: ScheduleDefinition;
    readonly changes: readonly string[];
  }[];
  readonly delete: readonly string[];
  readonly same: readonly string[];
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
  const problemOf = (what: string, cause: unknown): Problem => wrongFile(path, what, cause);
  const content = fileSchema.safeParse(await readYamlFile(path, 'the schedule file', problemOf));
  if (!content.success) {
    throw wrongFile(path, `the schedule file has ${mistakeOf(content.error.issues[0]!)}`);
  }
  const group = content.data.group ?? basename(path).replace(/\.ya?ml$/i, '');
  const context = { folder: dirname(resolve(path)), group, hasBudget: settings.hasBudget };
  const schedules: ScheduleDefinition[] = [];
  for (const [name, given] of Object.entries(content.data.schedules))
    schedules.push(await defineSchedule(name, given, context).catch(inFile(path, name)));
  return { group, schedules };
}

/**
 * Compares a file with the existing schedules.
 *
 * @param present all schedules of the product, from this file or not
 */
export function changesTo(file: ScheduleFile, present: readonly ScheduleDefinition[]): ScheduleChanges {
  const byName = new Map(present.map((definition) => [definition.name, definition]));
  const changed = file.schedules.map((definition) => {
    const before = byName.get(definition.name);
    return {
      definition,
      isNew: before === undefined,
      changes: before ? differences(before, definition) : [],
    };
  });
  const wanted = file.schedules.map(({ name }) => name);
  return {
    create: changed.filter(({ isNew }) => isNew).map(({ definition }) => definition),
    update: changed.filter(({ changes }) => changes.length > 0),
    delete: present
      .filter(({ name, work }) => work.group === file.group && !wanted.includes(name))
      .map(({ name }) => name),
    same: changed
      .filter(({ isNew, changes }) => !isNew && changes.length === 0)
      .map(({ definition }) => definition.name),
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

/** Formats changes for a person, before they are applied. */
export function describeChanges(changes: ScheduleChanges): string {
  const lines = [
    ...changes.create.flatMap((definition) => [
      `+ ${definition.name}`,
      ...[...fieldsOf(definition)].map(([field, value]) => `    ${field}: ${value}`),
    ]),
    ...changes.update.flatMap(({ definition, changes: fields }) => [
      `~ ${definition.name}`,
      ...fields.map((field) => `    ${field}`),
    ]),
    ...changes.delete.map((name) => `- ${name}`),
    ...changes.same.map((name) => `= ${name}`),
  ];
  return lines.length === 0 ? 'the file has no schedules, and its group has none' : lines.join('\n');
}

function mistakeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `an unknown key: "${issue.keys[0]}"`;
  if (issue.path.length === 0) return 'no keys: it is no file of schedules';
  return `no usable value for "${issue.path.join('.')}"`;
}

/** Replaces the flag or argument in a problem by the file, the schedule and its key. */
function inFile(path: string, name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Problem)) throw error;
    const key = error.where
      ?.replace(/^--/, '')
      .replace(/^(?:NAME|FILE)$/, (argument) => argument.toLowerCase());
    throw new UsageProblem(error.type, error.message, {
      where: `${path}, schedule ${name}: ${key ?? ''}`,
      next: error.next,
      cause: error,
    });
  };
}

function wrongFile(where: string, what: string, cause?: unknown): Problem {
  return new UsageProblem('schedule.file', what, {
    where,
    next: 'write "schedules:", and below it each name with its flags; docs/schedules.md has an example',
    cause,
  });
}
