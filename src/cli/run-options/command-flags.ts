import { Option, type Command } from '../terminal/command.ts';
import type { Config } from '../../config/settings.ts';
import { settingsOf } from '../session/settings-flags.ts';
import { flagHeadings } from './run-option-flags.ts';
import { settingsOfOptions, withOptionFlags } from './read-run-options.ts';

/** Flags that commands read by name. `run-option-flags.ts` reads the options of a run from the same object. */
export interface CommandFlags {
  readonly source?: string;
  readonly reveal?: string;
  readonly query?: string;
  readonly encoding?: string;
  readonly shortRows?: 'fill';
  readonly plan?: string;
  readonly writeMapping?: string;
  readonly json?: boolean;
}

/** Adds the argument and flags that `run`, `backfill` and `plan` share. */
export function withCommandFlags(command: Command): Command {
  return withOptionFlags(command)
    .argument(
      '[file]',
      'CSV export of a CRM (plain or gzip): a file, https://…, s3://bucket/key, or - for standard input',
    )
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
      new Option('--short-rows <how>', 'rows that lack their last cells: fill them with empty ones').choices([
        'fill',
      ]),
    )
    .option('--write-mapping <file>', 'new file for the recognised or proposed mapping of columns')
    .optionsGroup(flagHeadings.credits)
    .option(
      '--plan <hash>',
      'hash of the only plan that may run, with its pilot and gates (enrich plan prints it)',
    )
    .optionsGroup('Options:')
    .option('--json', 'one JSON object on the last line of standard output; progress on standard error');
}

/** The settings of a command with the flags of `withCommandFlags`, which override the environment. */
export function settingsOfRun(flags: CommandFlags): Config {
  return settingsOf(flags, settingsOfOptions(flags));
}
