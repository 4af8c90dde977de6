import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { settingNames } from './settings-schema.ts';

/** Variables of docker compose, and of the clients of PostgreSQL, Temporal, S3 and OTLP, which can have credentials. */
const foreignSecrets = /^(?:WAREHOUSE_PASSWORD|PG[A-Z]+|(?:TEMPORAL|AWS|OTEL)_\w+)$/;

/**
 * The environment for a command that this process starts: its own, without settings and without credentials of
 * databases, Temporal, S3 and traces. The folder of the cache is a setting without a secret that commands may need.
 */
export function commandEnvironment(): NodeJS.ProcessEnv {
  const settings: ReadonlySet<string> = new Set(settingNames);
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => name === 'XDG_CACHE_HOME' || !(settings.has(name) || foreignSecrets.test(name)),
    ),
  );
}

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
