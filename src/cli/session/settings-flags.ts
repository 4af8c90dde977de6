import { Option, type Command } from 'commander';
import { WrongSettings, readConfig, type Config, type Overrides } from '../../config/settings.ts';
import { versionSettings, type Setting } from '../../config/settings-schema.ts';

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

/** The heading of these flags in `--help`. */
export const settingsHeading = 'Settings:';

/** Adds the settings' flags to a command. */
export function withSettings(command: Command): Command {
  for (const [flag, , description] of flags)
    command.addOption(new Option(flag, description).helpGroup(settingsHeading));
  return command;
}

/** Flags of single commands that override a setting, so that errors can name the flag. */
const furtherFlags: Partial<Record<Setting, string>> = {
  MAX_CREDITS_PER_RUN: '--max-credits',
  FRESHNESS: '--freshness',
  RETENTION: '--retention',
  LATE_RESULTS_DEADLINE: '--late-deadline',
  WEBHOOK_LISTEN: '--listen',
  CODEC_SERVER_LISTEN: '--listen',
  CODEC_SERVER_UI_ORIGINS: '--ui-origin',
};

/**
 * Reads the settings of a command from the environment and its flags, which go first.
 *
 * @throws WrongSettings that names the flag if a flag is wrong
 */
export function settingsOf(options: object, more: Overrides = {}): Config {
  return readConfigOf(overridesOf(options, more));
}

interface CheckedSettings {
  readonly config: Config;
  readonly wrong: WrongSettings['settings'];
}

/** Reads the settings of a command and ignores wrong ones. @returns also the wrong settings with their reasons */
export function settingsWithoutWrong(options: object): CheckedSettings {
  return withoutWrong(overridesOf(options, {}));
}

/** The rules between settings apply only when every value is right: without the wrong values, more can be wrong. */
function withoutWrong(overrides: Overrides): CheckedSettings {
  try {
    return { config: readConfigOf(overrides), wrong: [] };
  } catch (error) {
    if (!(error instanceof WrongSettings)) throw error;
    const names = error.settings.map(({ setting }) => setting);
    // Without its wrong partner, a right setting would be reported too.
    if (versionSettings.some((name) => names.includes(name))) names.push(...versionSettings);
    const unset = Object.fromEntries(names.map((name) => [name, '']));
    const { config, wrong } = withoutWrong({ ...overrides, ...unset });
    return { config, wrong: [...error.settings, ...wrong] };
  }
}

function readConfigOf(overrides: Overrides): Config {
  return readConfig(process.env, overrides, (setting) => {
    if (overrides[setting] === undefined) return undefined;
    return flags.find(([, name]) => name === setting)?.[0].split(' ')[0] ?? furtherFlags[setting];
  });
}

function overridesOf(options: object, more: Overrides): Overrides {
  const overrides: Record<string, string | undefined> = { ...more };
  for (const [flag, setting] of flags) {
    const value = (options as Readonly<Record<string, unknown>>)[new Option(flag).attributeName()];
    if (typeof value === 'string') overrides[setting] = value;
  }
  return overrides;
}
