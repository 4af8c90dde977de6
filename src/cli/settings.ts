import type { Command } from 'commander';
import { readConfig, type Config, type Overrides } from '../config.ts';

/** Flags that override settings of the environment, on every command that opens the product's parts. */
const flags = [
  [
    '--base-url <url>',
    'ENRICHMENT_BASE_URL',
    'address of the service, ending in /api/v1 (not set: the sandbox)',
  ],
  ['--database-url <url>', 'DATABASE_URL', 'PostgreSQL 15 or later (not set: embedded)'],
  ['--temporal-address <host:port>', 'TEMPORAL_ADDRESS', 'Temporal server (not set: the dev server)'],
  ['--data-dir <folder>', 'ENRICH_DATA_DIR', 'state of the embedded parts (default .enrich)'],
  [
    '--rate-limits <limits>',
    'RATE_LIMITS',
    'calls allowed per window, such as 600/hour or 20/10s,100/minute',
  ],
] as const;

/** Adds the settings' flags to a command. */
export function withSettings(command: Command): Command {
  for (const [flag, , description] of flags) command.option(flag, description);
  return command;
}

/** The settings of a command: environment, and flags over it. */
export function settingsOf(options: object, more: Overrides = {}): Config {
  const overrides: Record<string, string | undefined> = { ...more };
  for (const [flag, setting] of flags) {
    const name = flag
      .slice(2)
      .split(' ')[0]!
      .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string') overrides[setting] = value;
  }
  return readConfig(process.env, overrides);
}
