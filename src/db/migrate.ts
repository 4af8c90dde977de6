import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, Migrator, PostgresDialect, sql, type Migration } from 'kysely';
import pg from 'pg';
import { Problem, UsageProblem } from '../domain/problem.ts';
import { grantAnalysts } from './analyst-role.ts';
import { databaseUrlWithoutPassword, databaseErrorCode, describeDatabaseFailure } from './postgres-errors.ts';
import {
  afterConnect,
  applySessionSettings,
  createClientWithTimeout,
  readBackendPid,
  schemaName,
} from './session-settings.ts';
import * as initial from './migrations/0001-initial.ts';

/** All migrations in their order. They are a list in code, because bundling could lose a file of a folder. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
};

/** Migrations that this command applied (`done`), and those that a newer release applied. */
export interface Migrated {
  readonly done: readonly string[];
  /** Names of applied migrations that only a newer release knows. Migrations only add, so this release still works. */
  readonly newer: readonly string[];
}

/** Maximum wait for the lock of a table. A waiting migration blocks all other statements on this table. */
const lockMilliseconds = 1_000;
const pauseMilliseconds = 1_000;
const lockNotAvailable = '55P03';

/**
 * Migrates the schema and the rights of analysts, in one transaction and by one migrator at a time, while workers run.
 * The schema of a newer release stays unchanged, so that workers of both releases can run during an upgrade.
 *
 * @param databaseUrl a database with a role that may create a schema; no superuser is needed
 * @param options.patienceMilliseconds time to retry while other sessions use the tables
 * @throws Problem `database.in-use`, and others `database.*`
 */
export async function migrate(
  databaseUrl: string,
  options: {
    readonly patienceMilliseconds?: number;
    readonly migrations?: Readonly<Record<string, Migration>>;
  } = {},
): Promise<Migrated> {
  const { patienceMilliseconds = 60_000, migrations: known = migrations } = options;
  const giveUpAt = performance.now() + patienceMilliseconds;
  return withDatabase(databaseUrl, async (database) => {
    for (;;) {
      const executed = await executedMigrations(database);
      const newer = executed.filter((name) => !(name in known));
      if (Object.keys(known).every((name) => executed.includes(name))) return { done: [], newer };
      // Kysely's migrator must know all applied migrations, so migrations of a newer release are listed as empty ones.
      const done = Object.fromEntries(newer.map((name) => [name, { up: () => Promise.resolve() }]));
      const { error, results } = await new Migrator({
        db: database,
        provider: { getMigrations: () => Promise.resolve({ ...known, ...done }) },
        migrationTableSchema: schemaName,
      }).migrateToLatest();
      // Kysely's migrator returns its error and never throws.
      if (error === undefined) {
        const applied = (results ?? []).filter(({ status }) => status === 'Success');
        if (applied.length > 0) await grantAnalysts(database);
        return { done: applied.map(({ migrationName }) => migrationName), newer };
      }
      // A newer release may have migrated the schema while this migrator waited.
      const overtaken = (await executedMigrations(database)).length > executed.length;
      if (!overtaken && databaseErrorCode(error) !== lockNotAvailable) throw error;
      if (performance.now() > giveUpAt)
        throw new Problem('database.in-use', 'a transaction has used tables to migrate for too long', {
          where: databaseUrlWithoutPassword(databaseUrl),
          next:
            'end the transaction (select pid, xact_start, query from pg_stat_activity order by xact_start shows the ' +
            'oldest) and try again; nothing was changed',
          cause: error,
        });
      await sleep(pauseMilliseconds);
    }
  });
}

/** Compares a database with this release: migrations that are missing, and migrations of a newer release. */
export async function compareMigrations(databaseUrl: string) {
  const executed = await withDatabase(databaseUrl, executedMigrations);
  return {
    pending: Object.keys(migrations).filter((name) => !executed.includes(name)),
    newer: executed.filter((name) => !(name in migrations)),
  };
}

/** Gives a role without rights on the schema those of an analyst, now and after migrations. @throws Problem `role.*` */
export async function allowAnalyst(databaseUrl: string, role: string): Promise<void> {
  await withDatabase(databaseUrl, (database) => grantAnalysts(database, role));
}

/** Names of the applied migrations. Kysely's migrator reads all tables for this, which cost each command 20 ms. */
async function executedMigrations(database: Kysely<never>): Promise<string[]> {
  const table = `${schemaName}.kysely_migration`;
  const described = await sql<{ there: boolean; fingerprint: string | null }>`
    select to_regclass(${table}) is not null as there,
      obj_description(to_regclass(${table}), 'pg_class') as fingerprint
  `.execute(database);
  const { there, fingerprint } = described.rows[0]!;
  if (!there) return [];
  const executed = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(
    database,
  );
  const names = executed.rows.map(({ name }) => name);
  if (names.length === 0 || fingerprint === initial.fingerprint) return names;
  const ofDump = 'if the tables are of a dump, restore it without --no-comments; otherwise ';
  throw new Problem(
    'database.other-commit',
    'another unreleased version of the product has made the tables',
    {
      where: `schema ${schemaName}`,
      next:
        (fingerprint === null ? ofDump : '') +
        'set DATABASE_URL to a new database or, without it, ENRICH_DATA_DIR to a new folder; or run the commit that ' +
        'made the tables',
    },
  );
}

/** Connects to a suitable server, and converts errors to the Problems `database.*`. */
async function withDatabase<Result>(
  databaseUrl: string,
  use: (database: Kysely<never>) => Promise<Result>,
): Promise<Result> {
  // The pool has only one connection that stays open, because `lock_timeout` is a setting of the connection.
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 1,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
    onConnect: afterConnect(async (client) => {
      await applySessionSettings(client);
      await checkServer(client, databaseUrl);
    }),
  });
  pool.on('error', () => {});
  // A broken connection fails its statement. Without this listener, the event would end the process without a message.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<never>({ dialect: new PostgresDialect({ pool }) });
  try {
    await pool.query(`set lock_timeout = ${lockMilliseconds}`);
    return await use(database);
  } catch (error) {
    throw describeDatabaseFailure(error, databaseUrl);
  } finally {
    await database.destroy();
  }
}

/** Number of comparisons that detect a pooler. A busy pooler can give two connections different sessions by chance. */
const comparisons = 5;

/** Maximum wait for an answer. A busy pooler can leave a connection waiting for minutes without an error. */
const answerMilliseconds = 10_000;

/** Refuses an unsuitable server. @throws Problem `database.too-old`, `database.encoding`, `database.pooler` */
async function checkServer(client: pg.ClientBase, databaseUrl: string): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; process: number }>(`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding, pg_backend_pid() as process`);
  const { version, encoding, process } = rows[0]!;
  const refuse = (type: string, what: string, next: string): UsageProblem =>
    new UsageProblem(type, what, { where: databaseUrlWithoutPassword(databaseUrl), next });
  if (version < 15)
    throw refuse('database.too-old', `PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or later');
  if (encoding !== 'UTF8') {
    const next = "create the database with encoding 'UTF8' (template template0), and set DATABASE_URL to it";
    throw refuse('database.encoding', `the database stores texts in ${encoding}, not in UTF8`, next);
  }
  // A pooler invents this number, because its client has no server process of its own.
  const { processID } = client as unknown as { readonly processID: number };
  if (processID === process) return;
  if (!(await changesSessions(client, databaseUrl))) return;
  const next = 'let the pooler use session mode for this database and user, or connect to PostgreSQL itself';
  throw refuse('database.pooler', 'a pooler gives each transaction another session', next);
}

/** True if a connection changes or shares its session of the server, as behind a pooler. */
async function changesSessions(one: pg.ClientBase, databaseUrl: string): Promise<boolean> {
  const other = createClientWithTimeout(databaseUrl, answerMilliseconds);
  await other.connect();
  try {
    const first = await readBackendPid(one);
    for (let comparison = 0; comparison < comparisons; comparison += 1) {
      if ((await readBackendPid(other)) === first || (await readBackendPid(one)) !== first) return true;
    }
    return false;
  } finally {
    // The end is not awaited, because it waits for the server.
    void other.end();
  }
}
