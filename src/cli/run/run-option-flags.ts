import { requireValidMapping, requireValidSource } from '../../ingest/columns/mapping-file.ts';
import { formatFreshness, parseFreshness } from '../../domain/runs/freshness.ts';
import {
  formatRowFilters,
  formatRowOrder,
  parseRowFilters,
  parseRowOrder,
} from '../../domain/runs/row-choice.ts';
import {
  optionNamesSetBy,
  type FlagOptions,
  type RunOptions,
  type ScheduledOptions,
} from '../../domain/runs/run-options.ts';
import { formatDuration, parseDuration } from '../../domain/text/duration.ts';
import { formatPercent } from '../../domain/text/format.ts';
import { extraNames, type ExtraNames } from '../../domain/late-results/delivery-kinds.ts';
import { formatCredits, parseCredits } from '../../domain/money/decimal.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { parseExpectations } from '../../domain/runs/expectations.ts';
import { describingColumnAdvice } from '../../ingest/columns/chosen-column.ts';
import {
  Option,
  readYamlFile,
  parseShare,
  wholeNumberParser,
  requireNoPersonalData,
  type Command,
} from '../terminal/command.ts';

/** Values of a flag, in order. A flag that is not repeatable has one. */
type Texts = readonly string[];

interface OptionFlag<Value> {
  readonly flag: string;
  /** Heading of `--help` that begins with this flag. */
  readonly heading?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly repeatable?: boolean;
  /** Parser that Commander calls, to refuse wrong values before any other work. */
  readonly parse?: (text: string) => unknown;
  /** Reads the option from the first value, or from all values of a repeatable flag. */
  readonly read: (text: string, all: Texts) => Value | Promise<Value>;
  /** Value of the option if a command does not set the flag. Default: null. */
  readonly missing?: Value;
  /** Formats a value for plans and schedules; null hides it. Default: the value as text. */
  readonly show?: (value: NonNullable<Value>) => string | null;
}

/** Flags of a run's options, in the order of `--help`. Commands, plans and schedules are built from this table. */
const optionFlags: { readonly [Name in keyof FlagOptions]: OptionFlag<FlagOptions[Name]> } = {
  maxCredits: {
    flag: '--max-credits <n>',
    heading: 'Options:',
    description:
      'maximum credits per run; 0 makes no call and fills contacts of known people (MAX_CREDITS_PER_RUN)',
    read: (number) => parseCreditsFlag('--max-credits', number, 'write a number such as 500 or 12.5'),
  },
  reveal: {
    flag: '--reveal <what>',
    description: 'fields to ask for beside profiles: phone, email (personal addresses), or phone,email',
    repeatable: true,
    read: (_, fields) => extrasOf('reveal', fields),
    missing: [],
    show: (fields) => fields.join(',') || null,
  },
  source: {
    flag: '--source <name>',
    description: 'name of the CRM in the warehouse (default: recognised from the header)',
    read: requireValidSource,
  },
  mapping: {
    flag: '--mapping <file>',
    description: 'JSON or YAML file that assigns columns',
    read: readMapping,
    show: (mapping) => JSON.stringify(mapping),
  },
  only: {
    flag: '--only <choice>',
    heading: 'Export:',
    description: 'rows to ask for: COLUMN=VALUE or "COLUMN in VALUE,VALUE"; repeatable',
    repeatable: true,
    read: (_, choices) => parseRowFilters(requireNoPersonIn(choices)),
    missing: [],
    show: (only) => formatRowFilters(only).join('; ') || null,
  },
  orderBy: {
    flag: '--order-by <column>',
    description:
      'column that orders the people to ask for: lowest value first, or with COLUMN desc highest value first',
    read: parseRowOrder,
    show: formatRowOrder,
  },
  expectations: {
    flag: '--expect <rules>',
    description:
      'rules for the export; if it breaks one, the run pauses before it spends: none, usual, or rules such as ' +
      'rows=50%..200%,coverage=70%,malformed=5%,mapping=same,empty=no (default: none; usual in a schedule)',
    read: (rules) => {
      parseExpectations(rules);
      return rules.trim();
    },
  },
  freshness: {
    flag: '--freshness <durations>',
    heading: 'Data to ask for:',
    description:
      'time until a person is asked for again, such as 90d or enriched=90d,phone=180d,not_found=30d (FRESHNESS)',
    read: (durations) => parseFreshness(durations, '--freshness'),
    show: formatFreshness,
  },
  waterfall: {
    flag: '--waterfall <what>',
    description: 'fields to ask further vendors for: phone, email, or phone,email',
    repeatable: true,
    read: (_, fields) => extrasOf('waterfall', fields),
    missing: [],
    show: (fields) => fields.join(',') || null,
  },
  lateDeadlineSeconds: {
    flag: '--late-deadline <duration>',
    description: 'time to wait for phones and waterfall results (LATE_RESULTS_DEADLINE, default 24h)',
    read: (duration) => parseDuration(duration, '--late-deadline'),
    show: formatDuration,
  },
  maxCreditsPerPerson: {
    flag: '--max-credits-per-person <n>',
    heading: 'Credits and quality gates:',
    description: 'maximum credits per person; required with --waterfall',
    read: ceilingOf,
  },
  pilot: {
    flag: '--pilot <n>',
    description: 'people to ask for first, a sample of all kinds of rows; the run then shows their results',
    parse: wholeNumberParser(1, 100_000),
    read: Number,
  },
  minMatchRate: {
    flag: '--min-match-rate <share>',
    description: 'match rate below which the run pauses, such as 40%: of the pilot and of the latest calls',
    parse: parseShare,
    read: parseShare,
    show: (rate) => formatPercent(rate).replace(/(?:\.0)? %/, '%'),
  },
  onBudget: {
    flag: '--on-budget <what>',
    description:
      'what the run does when a budget is exhausted: finish, with the remaining rows over budget, or pause until ' +
      'the budget is raised or its next period begins (default: finish for --max-credits and in schedules; pause ' +
      'for other budgets)',
    choices: ['finish', 'pause'],
    read: (policy) => policy as 'finish' | 'pause',
  },
  onUnknown: {
    flag: '--on-unknown <what>',
    description:
      'what happens to the people of a call whose answer is lost: hold until you decide, or retry once at the price ' +
      'of both calls (default: hold)',
    choices: ['hold', 'retry'],
    read: (what) => what as 'hold' | 'retry',
    missing: 'hold',
    show: (what) => (what === 'retry' ? what : null),
  },
};

const inHelpOrder = Object.keys(optionFlags) as readonly (keyof FlagOptions)[];
/** Options that schedules have. The flags of commands only, such as `--pilot`, are not among them. */
const optionsOfSchedules = optionNamesSetBy('flag', 'flag or setting').toSorted(
  (one, other) => inHelpOrder.indexOf(one) - inHelpOrder.indexOf(other),
);

/** Flags that commands read by name. The object also has the flags that `chosenOptions` reads. */
export interface CommandFlags {
  readonly source?: string;
  readonly reveal?: string;
  readonly query?: string;
  readonly encoding?: string;
  readonly shortRows?: 'fill';
  readonly plan?: string;
  readonly json?: boolean;
}

/** Adds the flags of run options that commands accept. */
export function withCommandFlags(command: Command): Command {
  command
    .argument(
      '[file]',
      'CSV export of a CRM (plain or gzip): a file, https://…, s3://bucket/key, or - for standard input',
    )
    .option('--json', 'one JSON object on the last line of standard output; progress on standard error')
    .quiet();
  return withOptions(command, inHelpOrder)
    .optionsGroup('Export:')
    .option('--query <sql>', 'SELECT on the warehouse instead of a file')
    .option('--encoding <name>', 'encoding of the file, such as windows-1252 (default: UTF-8)')
    .addOption(new Option('--short-rows <how>', 'rows that lack their last cells: fill').choices(['fill']))
    .optionsGroup('Credits and quality gates:')
    .option('--plan <hash>', 'hash of the only plan that may run (enrich plan prints it)');
}

/** Adds the flags of run options that schedules accept. */
export function withScheduleFlags(command: Command): Command {
  return withOptions(command, optionsOfSchedules);
}

function withOptions(command: Command, names: readonly (keyof FlagOptions)[]): Command {
  for (const name of names) {
    const { heading } = optionFlags[name];
    if (heading !== undefined) command.optionsGroup(heading);
    command.addOption(commanderOption(name));
  }
  return command;
}

/** Commander calls this for each occurrence of a repeatable flag. */
const collect = (text: string, before: Texts | undefined): Texts => [...(before ?? []), text];

function commanderOption(name: keyof FlagOptions): Option {
  const { flag, description, choices, repeatable, parse } = optionFlags[name];
  const option = new Option(flag, description);
  if (choices) option.choices(choices);
  if (parse) option.argParser(parse);
  if (repeatable) option.argParser(collect);
  return option;
}

/** Reads a run's options from the flags of a command. A null option takes its value from the settings. */
export const chosenOptions = (flags: object): Promise<FlagOptions> => readOptions(flags, inHelpOrder);

/** Reads the options of a schedule from its flags. */
export const scheduledOptions = (flags: object): Promise<ScheduledOptions> =>
  readOptions(flags, optionsOfSchedules);

/** Reads options from parsed flags; without a flag, an option is `missing`. @throws UsageProblem */
async function readOptions<Name extends keyof FlagOptions>(
  flags: object,
  names: readonly Name[],
): Promise<Pick<FlagOptions, Name>> {
  const options: [Name, unknown][] = [];
  for (const name of names) {
    const { read, missing = null } = optionFlags[name];
    const given = (flags as Readonly<Record<string, unknown>>)[commanderOption(name).attributeName()];
    const texts = [given ?? []].flat().map(String);
    options.push([name, texts.length === 0 ? missing : await read(texts[0]!, texts)]);
  }
  const read = Object.fromEntries(options) as Pick<FlagOptions, Name>;
  refuseContradictions(read);
  return read;
}

/** The options of a run as flags and values, by flag. */
export function flagsOfRun(options: Partial<RunOptions> | ScheduledOptions): Record<string, string> {
  return Object.fromEntries(
    inHelpOrder.flatMap((name) => {
      const value: unknown = (options as Partial<FlagOptions>)[name] ?? null;
      const { show = String } = optionFlags[name] as { show?: (value: unknown) => string | null };
      const text = value === null ? null : show(value);
      return text === null ? [] : [[commanderOption(name).name(), text]];
    }),
  );
}

/** Reads a mapping file. @throws UsageProblem if it is missing or invalid, or names a person */
async function readMapping(path: string): Promise<Readonly<Record<string, unknown>>> {
  const wrong = (what: string, cause?: unknown): Problem => {
    const isMissing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    return new UsageProblem(isMissing ? 'mapping.missing' : 'mapping.unreadable', what, {
      where: path,
      next: 'write a JSON or YAML file such as {"columns": {"email": "E-mail"}}; docs/guides/exports.md has the fields',
      cause,
    });
  };
  const mapping = await readYamlFile(path, 'the mapping file', wrong);
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping))
    throw wrong('the mapping file has no mapping of fields');
  // Runs store their mapping, so the mapping must not name a person.
  const next = 'name columns by their header or by their number, as in {"columns": {"email": 3}}';
  requireNoPersonalData(JSON.stringify(mapping), { what: 'the mapping file', where: path, next });
  return requireValidMapping(mapping, path);
}

function invalid(where: string, what: string, next: string, type = 'setting.invalid'): Problem {
  return new UsageProblem(type, what, { where, next });
}

/** Refuses conditions of `--only` that name a person, because Temporal shows these conditions. */
function requireNoPersonIn(choices: readonly string[]): readonly string[] {
  const refusal = { what: 'this condition', where: '--only', next: describingColumnAdvice };
  return choices.map((text) => requireNoPersonalData(text, refusal));
}

/** Reads credits as decimal text. */
export function parseCreditsFlag(flag: string, text: string, next: string): string {
  const credits = parseCredits(text);
  if (credits !== undefined) return formatCredits(credits);
  throw invalid(flag, `"${text}" is not a number of credits`, next);
}

/** Reads names such as `phone,email`. The result has a fixed order, because the order must not change the run key. */
function extrasOf<Name extends keyof typeof extraNames>(
  option: Name,
  texts: readonly string[],
): ExtraNames<Name> {
  const given = texts.flatMap((text) => text.split(',')).map((name) => name.trim().toLowerCase());
  const names: readonly string[] = extraNames[option];
  if (given.every((name) => names.includes(name)))
    return names.filter((name) => given.includes(name)) as unknown as ExtraNames<Name>;
  const next = `write ${names.join(', ')}, or ${names.join(',')}`;
  throw invalid(`--${option}`, `"${texts.join(',')}" is not a list of known fields`, next);
}

/** Reads a maximum per person. 0 is refused, because every person who is found costs credits. */
function ceilingOf(text: string): string {
  const next = 'write a number above 0, such as 20 or 12.5';
  const credits = parseCreditsFlag('--max-credits-per-person', text, next);
  if (credits !== '0') return credits;
  throw invalid('--max-credits-per-person', 'nobody costs nothing', next, 'credits.no-ceiling');
}

/** Refuses a waterfall without a limit per person, because vendors set their own prices, and a limit without it. */
function refuseContradictions({ waterfall, maxCreditsPerPerson: ceiling }: Partial<FlagOptions>): void {
  const flag = '--max-credits-per-person';
  const hasWaterfall = waterfall !== undefined && waterfall.length > 0;
  if (!hasWaterfall && typeof ceiling === 'string')
    throw invalid(flag, 'only a waterfall needs it', 'remove it, or add --waterfall', 'credits.no-ceiling');
  if (hasWaterfall && ceiling === null) {
    const what = 'a waterfall has no fixed price, and the run has no maximum per person';
    throw invalid(flag, what, `add ${flag}, such as 20, or remove --waterfall`, 'credits.no-ceiling');
  }
}
