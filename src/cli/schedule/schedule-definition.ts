import { resolve } from 'node:path';
import { z } from 'zod';
import type { ExportChoice, ScheduledRunInput } from '../../contract/scheduled-run-input.ts';
import { cronMistake } from '../../domain/text/cron.ts';
import { formatDuration, parseDuration } from '../../domain/text/duration.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { nearestText } from '../../domain/text/nearest-text.ts';
import { timeZoneNamed } from '../../domain/text/time-zone.ts';
import { refusePersonalNames } from '../../ingest/columns/mapping/chosen-column.ts';
import { canBeFetchedAgain, parseAddress, tableAddress } from '../../ingest/sources/export-address.ts';
import { checkPattern } from '../../ingest/sources/find-export.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import { scheduleKeys, scheduledOptions, shownOptions } from '../run-options/read-run-options.ts';

/** A schedule as its flags or its file define it. */
export interface ScheduleDefinition {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  /** What happens at a time while the run of the previous time is in progress. */
  readonly overlap: 'skip' | 'buffer-one';
  /** How long a start may be overdue after Temporal was unavailable. */
  readonly catchUpSeconds: number;
  readonly jitterSeconds: number;
  readonly pauseOnFailure: boolean;
  readonly work: ScheduledWork;
}

/** The export and the options of every run of a schedule. */
export type ScheduledWork = Omit<ScheduledRunInput, 'schedule' | 'timezone' | 'searchable' | 'service'>;

const text = z.union([z.string(), z.number()]).transform(String);

const ownFields = {
  file: text.optional(),
  newest: text.optional(),
  'newest-by': z.enum(['name', 'time'], { error: 'must be name or time' }).optional(),
  'every-new': text.optional(),
  'from-table': text.optional(),
  query: text.optional(),
  cron: text,
  timezone: text.optional(),
  overlap: z.enum(['skip', 'buffer-one'], { error: 'must be skip or buffer-one' }).optional(),
  'catch-up': text.optional(),
  jitter: text.optional(),
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

export type ScheduleFields = z.infer<typeof scheduleFields>;

export interface DefinitionContext {
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
  if (options.mapping?.encoding !== undefined && (choice.kind === 'from-table' || choice.kind === 'query')) {
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
    jitterSeconds: parseDuration(fields.jitter ?? '0s', '--jitter'),
    pauseOnFailure: fields['pause-on-failure'] === true,
    work: {
      group: context.group,
      export: choice,
      ...options,
      noBudget,
    },
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
    ['newest-by', work.export.kind === 'newest' && work.export.by],
    ['no-budget', work.noBudget && 'yes'],
    ...shownOptions(work),
    ['overlap', definition.overlap],
    ['catch-up', formatDuration(definition.catchUpSeconds)],
    ['jitter', definition.jitterSeconds > 0 && formatDuration(definition.jitterSeconds)],
    ['pause-on-failure', definition.pauseOnFailure && 'yes'],
    ['group', work.group],
  ];
  return new Map(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

const choiceKinds = ['file', 'newest', 'every-new', 'from-table', 'query'] as const;

function choiceOf(fields: ScheduleFields, folder: string): ExportChoice {
  const [kind, ...others] = choiceKinds.filter((each) => fields[each] !== undefined);
  if (kind === undefined || others.length > 0) {
    throw wrong(
      'file',
      kind === undefined ? 'the schedule has no export' : 'the schedule has more than one export',
      'give FILE, --newest, --every-new, --from-table or --query',
    );
  }
  const by = fields['newest-by'];
  if (by !== undefined && kind !== 'newest')
    throw wrong('newest-by', 'this order applies only to --newest', 'remove it, or add --newest');
  const from = placeOf(kind, fields[kind]!, folder);
  return kind === 'newest' ? { kind, from, by: by ?? 'time' } : { kind, from };
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
  if (kind === 'from-table') {
    tableAddress(given);
    return given;
  }
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
        'write the login into .netrc of the workers, or use an s3:// address',
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
