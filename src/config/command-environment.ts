import { settingNames } from './settings.ts';

/** What a command of the shell finds its programs, its home and its language by. */
const harmless: ReadonlySet<string> = new Set(['XDG_CACHE_HOME', 'NETRC']);
/** Settings of PostgreSQL's, Temporal's and the stores' own clients: logins among them. */
const foreignSecrets = /^(?:PG[A-Z]+|TEMPORAL_\w+|AWS_\w+)$/;

/**
 * The environment for a command that a setting names: that of this process without the product's settings and without the
 * logins of its database, of Temporal and of stores. Whatever else the command needs stays.
 */
export function commandEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const settings: ReadonlySet<string> = new Set(settingNames);
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => harmless.has(name) || !(settings.has(name) || foreignSecrets.test(name)),
    ),
  );
}
