import { Kysely, Migrator, PostgresDialect, type Migration } from 'kysely';
import pg from 'pg';
import { Problem } from '../domain/problem.ts';
import { schemaName } from './database.ts';
import { describeDatabaseFailure } from './failure.ts';
import * as firstTables from './migrations/0001-first-tables.ts';
import * as lateResults from './migrations/0002-late-results.ts';
import * as rateReports from './migrations/0003-rate-reports.ts';
import * as budgets from './migrations/0004-budgets.ts';
import * as notifications from './migrations/0006-notifications.ts';
import * as retention from './migrations/0007-retention.ts';

/** Named here and not found by listing a folder: the order is part of the code, and bundling cannot lose one. */
const migrations: Record<string, Migration> = {
  '0001-first-tables': firstTables,
  '0002-late-results': lateResults,
  '0003-rate-reports': rateReports,
  '0004-budgets': budgets,
  '0006-notifications': notifications,
  '0007-retention': retention,
};

/**
 * Brings the schema `enrichment` up to this release; nothing happens where it is already. Safe beside other migrators:
 * Kysely's migrator holds a lock for the whole of its transaction.
 *
 * @param databaseUrl a database whose role may create a schema; no superuser is needed
 * @returns the names of the migrations that were carried out now
 * @throws Problem `database.*`
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  return withMigrator(databaseUrl, async (migrator) => {
    const { error, results } = await migrator.migrateToLatest();
    // The migrator never throws: an error that is not looked at leaves half a schema behind.
    if (error !== undefined) throw describeDatabaseFailure(error, databaseUrl);
    return (results ?? [])
      .filter((result) => result.status === 'Success')
      .map((result) => result.migrationName);
  });
}

/** Names of the migrations that a database still lacks, without changing it. */
export async function pendingMigrations(databaseUrl: string): Promise<string[]> {
  return withMigrator(databaseUrl, async (migrator) => {
    const known = await migrator.getMigrations();
    return known.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
  });
}

async function withMigrator<Result>(
  databaseUrl: string,
  use: (migrator: Migrator) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: 10_000 });
  pool.on('error', () => {});
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
    return await use(
      new Migrator({
        db: database,
        provider: { getMigrations: () => Promise.resolve(migrations) },
        migrationTableSchema: schemaName,
      }),
    );
  } catch (error) {
    throw describeDatabaseFailure(error, databaseUrl);
  } finally {
    await database.destroy();
  }
}
