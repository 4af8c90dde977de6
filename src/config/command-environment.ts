import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { settingNames } from './settings-schema.ts';

/** Variables of docker compose and of clients of PostgreSQL, Temporal, S3 and OTLP that can hold credentials. */
const foreignSecrets = /^(?:WAREHOUSE_PASSWORD|PG[A-Z]+|(?:TEMPORAL|AWS|OTEL)_\w+)$/;

/**
 * Returns the environment of commands that this process starts: no credentials, and no settings but the cache folder.
 */
export function commandEnvironment(): NodeJS.ProcessEnv {
  const settings: ReadonlySet<string> = new Set(settingNames);
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => name === 'XDG_CACHE_HOME' || !(settings.has(name) || foreignSecrets.test(name)),
    ),
  );
}

/** Finds an executable file in the folders of PATH. Undefined if there is none. */
export function findProgram(name: string, searchPath = process.env['PATH'] ?? ''): string | undefined {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
