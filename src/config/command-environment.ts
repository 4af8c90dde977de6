import { settingNames } from './settings-schema.ts';

/** Settings without secrets that a shell command may need. */
const harmless: ReadonlySet<string> = new Set(['XDG_CACHE_HOME', 'NETRC']);
/** Variables of the clients of PostgreSQL, Temporal and S3, which can have credentials. */
const foreignSecrets = /^(?:PG[A-Z]+|TEMPORAL_\w+|AWS_\w+)$/;

/**
 * The environment of a command that a setting names: that of this process without the product's settings and
 * without the credentials of its database, of Temporal and of S3.
 */
export function commandEnvironment(): NodeJS.ProcessEnv {
  const settings: ReadonlySet<string> = new Set(settingNames);
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => harmless.has(name) || !(settings.has(name) || foreignSecrets.test(name)),
    ),
  );
}
