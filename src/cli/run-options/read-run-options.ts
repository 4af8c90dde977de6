import {
  optionsSetBy,
  type ChosenOptions,
  type RunOptions,
  type ScheduledOptions,
} from '../../domain/runs/run-options.ts';
import { shellWord } from '../../domain/text/format.ts';
import type { Config } from '../../config/settings.ts';
import { Option, type Command } from '../terminal/command.ts';
import {
  flagHeadings,
  optionFlags,
  refuseContradictions,
  type FlagOptions,
  type Texts,
} from './run-option-flags.ts';
import { settingsOf, type GivenSettings } from '../session/session.ts';

const inHelpOrder = Object.keys(optionFlags) as readonly (keyof FlagOptions)[];
const optionsOfCommands = optionsSetBy('flag', 'flag of commands');
const optionsOfSchedules = optionsSetBy('flag', 'flag or setting').toSorted(
  (one, other) => inHelpOrder.indexOf(one) - inHelpOrder.indexOf(other),
);

/** Flags that commands read by name. `run-option-flags.ts` reads the options of a run from the same object. */
export interface CommandFlags {
  readonly source?: string;
  readonly reveal?: string;
  readonly query?: string;
  readonly encoding?: string;
  readonly shortRows?: 'fill';
  readonly plan?: string;
  readonly json?: boolean;
}

/** Adds the argument and flags that `run`, `backfill` and `plan` share. */
export function withCommandFlags(command: Command): Command {
  command
    .argument(
      '[file]',
      'CSV export of a CRM (plain or gzip): a file, https://…, s3://bucket/key, or - for standard input',
    )
    .option('--json', 'one JSON object on the last line of standard output; progress on standard error');
  return withOptionFlags(command)
    .optionsGroup(flagHeadings.export)
    .option(
      '--query <sql>',
      'SELECT on the warehouse instead of a file, such as "select * from crm.contacts"',
    )
    .option(
      '--encoding <name>',
      'encoding of the file, such as windows-1252 (default: UTF-8, or UTF-16 with a mark)',
    )
    .addOption(
      new Option('--short-rows <how>', 'rows that lack their last cells: fill them with empty ones')
        .choices(['fill'])
        .helpGroup(flagHeadings.export),
    )
    .optionsGroup(flagHeadings.credits)
    .option(
      '--plan <hash>',
      'hash of the only plan that may run, with its pilot and gates (enrich plan prints it)',
    );
}

/** The settings of a command with the flags of `withCommandFlags`, which override the environment. */
export function settingsOfRun(flags: CommandFlags): Config {
  return settingsOf(settingsOfOptions(flags));
}

/** Adds the flags of a run's options to a command. */
function withOptionFlags(command: Command): Command {
  for (const name of inHelpOrder) command.addOption(commanderOption(name));
  return command;
}

/** Adds the flags of the options that a schedule passes to its runs. */
export function withScheduleFlags(command: Command): Command {
  for (const name of optionsOfSchedules) command.addOption(commanderOption(name));
  return command;
}

/** Collects the values of a repeatable flag. */
const collect = (text: string, before: Texts | undefined): Texts => [...(before ?? []), text];

function commanderOption(name: keyof FlagOptions): Option {
  const { flag, group, description, choices, repeatable, parse } = optionFlags[name];
  const option = new Option(flag, description).helpGroup(flagHeadings[group]);
  if (choices) option.choices(choices);
  if (parse) option.argParser(parse);
  if (repeatable) option.argParser(collect);
  return option;
}

/**
 * The options that the flags of a command choose.
 *
 * @param flags as commander names them
 * @throws Problem `mapping.*`, `setting.invalid`, `credits.no-ceiling`
 */
export function chosenOptions(flags: object): Promise<ChosenOptions> {
  return readOptions(flags, optionsOfCommands);
}

/**
 * The options of a schedule.
 *
 * @param flags as commander names them
 * @throws Problem `mapping.*`, `setting.invalid`, `credits.no-ceiling`
 */
export function scheduledOptions(flags: object): Promise<ScheduledOptions> {
  return readOptions(flags, optionsOfSchedules);
}

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

function settingsOfOptions(flags: object): GivenSettings {
  const texts = flags as Readonly<Record<string, string | undefined>>;
  return Object.fromEntries(
    inHelpOrder.flatMap((name) => {
      const { setting } = optionFlags[name];
      const option = commanderOption(name);
      return setting ? [[setting, { flag: option.long!, text: texts[option.attributeName()] }]] : [];
    }),
  );
}

/** The flags of options that have a value, and their formatted values. */
export function flagsOfRun(options: Partial<RunOptions> | ScheduledOptions): Record<string, string> {
  return Object.fromEntries(
    inHelpOrder.flatMap((name) => {
      const text = shown(name, (options as Partial<FlagOptions>)[name]);
      return text === null ? [] : [[commanderOption(name).name(), text]];
    }),
  );
}

/** The flags that a plan shows. The run keeps the content of the mapping file, not its name. */
export function typedFlags(options: RunOptions): string[] {
  return Object.entries(flagsOfRun(options)).map(([flag, value]) => `--${flag} ${shellWord(value)}`);
}

function shown<Name extends keyof FlagOptions>(
  name: Name,
  value: FlagOptions[Name] | undefined,
): string | null {
  const { show = String } = optionFlags[name];
  return value === null || value === undefined ? null : show(value);
}
