import { Option, type Command as AnyCommand } from 'commander';
import { labelled } from '../terminal/layout.ts';
import { readConfig, type Config } from '../../config/settings.ts';
import type { Setting } from '../../config/settings-schema.ts';
import { existsSync } from 'node:fs';
import { UsageProblem } from '../../domain/problem.ts';

/** Flags of nearly every command, which override settings of the environment. */
const flags = [
  [
    '--base-url <url>',
    'ENRICHMENT_BASE_URL',
    'address of the service, ending in /api/v1 (not set: the sandbox)',
  ],
  ['--database-url <url>', 'DATABASE_URL', 'PostgreSQL 15 or later (not set: embedded)'],
  ['--temporal-address <host:port>', 'TEMPORAL_ADDRESS', 'Temporal server (not set: the dev server)'],
  ['--data-dir <folder>', 'ENRICH_DATA_DIR', 'state of the embedded components (default .enrich)'],
  [
    '--rate-limits <limits>',
    'RATE_LIMITS',
    'calls allowed per window, such as 600/hour or 20/10s,100/minute',
  ],
] as const;

/** The flags in `enrich --help`. The help of each command leaves them out. */
export const settingsHelp = `Flags of every command, which replace a setting (.env.example explains all settings):
${labelled(flags.map(([flag, setting, description]) => [flag, `${description} (${setting})`]))}`;

/** Adds the flags to all commands, except to a command that has such a flag of its own (`enrich sandbox`). */
export function addSettingsFlags(command: AnyCommand): void {
  const options = flags.map(([flag]) => new Option(flag).hideHelp());
  for (const child of command.commands) addSettingsFlags(child);
  const hasOwn = command.options.some(({ long }) => options.some((option) => option.long === long));
  if (command.commands.length > 0 || hasOwn) return;
  for (const option of options) command.addOption(option);
}

/** The text of a setting, with the flag that gave it, which errors then name. No flag: the command decides. */
export interface GivenSetting {
  readonly flag?: string;
  readonly text: string | undefined;
}

export type GivenSettings = { readonly [Name in Setting]?: GivenSetting };

/**
 * Reads the settings of a command from the environment and its flags, which go first.
 *
 * @param more settings from flags of this command alone
 * @throws WrongSettings that names the flag if a flag is wrong
 */
export function settingsOf(options: object, more: GivenSettings = {}): Config {
  const given: GivenSettings = { ...more, ...givenBy(options) };
  const texts = Object.fromEntries(Object.entries(given).map(([setting, { text }]) => [setting, text]));
  return readConfig(process.env, texts, (setting) =>
    given[setting]?.text === undefined ? undefined : given[setting].flag,
  );
}

function givenBy(options: object): GivenSettings {
  const values = options as Readonly<Record<string, string | undefined>>;
  return Object.fromEntries(
    flags.flatMap(([flag, setting]) => {
      const option = new Option(flag);
      const text = values[option.attributeName()];
      return text === undefined ? [] : [[setting, { flag: option.long!, text }]];
    }),
  );
}

/**
 * As `settingsOf`, for a command that only reads or changes what earlier commands have stored. In a wrong folder such a
 * command would create an empty warehouse and find nothing.
 *
 * @throws UsageProblem `warehouse.missing`
 */
export function settingsOfExisting(options: object, more?: GivenSettings): Config {
  const config = settingsOf(options, more);
  const { dataDirectory, directories } = config.embedded;
  if (config.databaseUrl !== undefined || existsSync(directories.postgres)) return config;
  const isFolderThere = existsSync(dataDirectory);
  throw new UsageProblem(
    'warehouse.missing',
    isFolderThere ? 'the data folder has no warehouse' : 'there is no data folder, and so no warehouse',
    {
      where: dataDirectory,
      next:
        'change to the folder of the runs, or set ENRICH_DATA_DIR or DATABASE_URL to theirs; enrich run FILE begins ' +
        'the first run here',
    },
  );
}
