import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, Migrator, PostgresDialect, sql, type Migration } from 'kysely';
import pg from 'pg';
import { Problem } from '../domain/problem.ts';
import { grantAnalysts } from './analyst-role.ts';
import { schemaName } from './database.ts';
import { addressWithoutPassword, databaseErrorCode, describeDatabaseFailure } from './postgres-errors.ts';
import * as initial from './migrations/0001-initial.ts';

/** Named here and not found by listing a folder: the order is part of the code, and bundling cannot lose one. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
};

export interface Migrated {
  /** Names of the migrations that were carried out now. */
  readonly done: readonly string[];
  /** Names of migrations of a newer release that the database has. Migrations only add, so this release works on it. */
  readonly newer: readonly string[];
}

/** Statements on a table wait behind a migration that waits for its lock: it must not wait for long at a time. */
const lockMilliseconds = 1_000;
const pauseMilliseconds = 1_000;
const lockNotAvailable = '55P03';

/**
 * Migrates the schema `enrichment` to this release; an up-to-date schema stays as it is. Safe beside running workers
 * and other migrators: one transaction carries out all missing migrations, one migrator at a time, and it retries while
 * other sessions use the tables. Analyst roles get their rights on new tables.
 *
 * A schema of a newer release stays as it is, so that workers of both releases can run during an upgrade.
 *
 * @param databaseUrl a database whose role may create a schema; no superuser is needed
 * @param options.patienceMilliseconds how long to try while other sessions use the tables
 * @param options.migrations those of the release
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
      const { error, results } = await migrator(database, known, newer).migrateToLatest();
      // The migrator never throws: an unchecked error would leave half a schema behind.
      if (error === undefined) {
        const done = (results ?? [])
          .filter((result) => result.status === 'Success')
          .map((result) => result.migrationName);
        if (done.length > 0) await grantAnalysts(database);
        return { done, newer };
      }
      // While this one waited for its turn, a newer release migrated.
      const overtaken = (await executedMigrations(database)).length > executed.length;
      if (!overtaken && databaseErrorCode(error) !== lockNotAvailable) throw error;
      if (performance.now() > giveUpAt) throw inUse(databaseUrl, error);
      await sleep(pauseMilliseconds);
    }
  });
}

/** Names of the migrations that a database still lacks, without changing it. */
export async function pendingMigrations(databaseUrl: string): Promise<string[]> {
  const executed = await withDatabase(databaseUrl, executedMigrations);
  return Object.keys(migrations).filter((name) => !executed.includes(name));
}

/**
 * Lets a role read what an analyst needs, now and after every later migration.
 *
 * @param role that is there, and has no rights on the schema but these
 * @throws Problem `role.*`
 */
export async function allowAnalyst(databaseUrl: string, role: string): Promise<void> {
  await withDatabase(databaseUrl, (database) => grantAnalysts(database, role));
}

/**
 * Names of the migrations that a database has. Kysely's migrator reads the columns of all tables to learn this, which
 * took each command 20 ms.
 */
async function executedMigrations(database: Kysely<never>): Promise<string[]> {
  const table = `${schemaName}.kysely_migration`;
  const there = await sql<{ there: boolean }>`select to_regclass(${table}) is not null as there`.execute(
    database,
  );
  if (there.rows[0]?.there !== true) return [];
  const executed = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(
    database,
  );
  return executed.rows.map(({ name }) => name);
}

/** @param newer that the migrator is to take as done */
function migrator(
  database: Kysely<never>,
  known: Readonly<Record<string, Migration>>,
  newer: readonly string[],
): Migrator {
  const done = Object.fromEntries(newer.map((name) => [name, { up: () => Promise.resolve() }]));
  return new Migrator({
    db: database,
    provider: { getMigrations: () => Promise.resolve({ ...known, ...done }) },
    migrationTableSchema: schemaName,
  });
}

async function withDatabase<Result>(
  databaseUrl: string,
  use: (database: Kysely<never>) => Promise<Result>,
): Promise<Result> {
  // One connection, kept: it has a setting of its own.
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 1,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
  });
  pool.on('error', () => {});
  // A connection that breaks in the middle of a statement fails it; an unhandled event would end the process without a
  // message.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<never>({ dialect: new PostgresDialect({ pool }) });
  try {
    const version = await pool.query<{ server_version_num: string }>('show server_version_num');
    const major = Math.floor(Number(version.rows[0]?.server_version_num ?? 0) / 10_000);
    if (major < 15) {
      throw new Problem('database.too-old', `PostgreSQL ${major} is too old`, {
        where: 'DATABASE_URL',
        next: 'use PostgreSQL 15 or later',
      });
    }
    await pool.query(`set lock_timeout = ${lockMilliseconds}`);
    return await use(database);
  } catch (error) {
    throw describeDatabaseFailure(error, databaseUrl);
  } finally {
    await database.destroy();
  }
}

function inUse(databaseUrl: string, cause: unknown): Problem {
  return new Problem('database.in-use', 'tables to migrate are in use by a transaction that does not end', {
    where: addressWithoutPassword(databaseUrl),
    next:
      'end it (select pid, xact_start, query from pg_stat_activity order by xact_start shows the oldest) ' +
      'and try again; nothing was changed',
    cause,
  });
}
