import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';
import { openWarehouse, type Warehouse, type WarehouseOptions } from '../../src/db/database.ts';
import { checkStatements } from './check-statements.ts';
import { templateName } from './global-setup.ts';

export interface TestDatabase {
  readonly databaseUrl: string;
  /** Drops it, also while clients are connected. */
  drop(): Promise<void>;
}

/**
 * A database of its own for a test file, with all migrations applied: a copy of the template, which takes some 50 ms.
 *
 * @param options `empty` for a database without any schema
 */
export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${options.empty ? 'template0' : templateName}`);
  const url = new URL(inject('postgresServerUrl'));
  url.pathname = `/${name}`;
  return { databaseUrl: url.href, drop: () => drop(name) };
}

export interface TestWarehouse extends Warehouse {
  /** Closes it and drops its database. */
  drop(): Promise<void>;
}

/** A warehouse in a database of its own, for a test file. */
export async function openTestWarehouse(options: WarehouseOptions = {}): Promise<TestWarehouse> {
  const database = await createTestDatabase();
  const warehouse = openWarehouse(database.databaseUrl, options);
  checkStatements(warehouse.pool);
  return {
    ...warehouse,
    drop: async () => {
      await warehouse.close();
      await database.drop();
    },
  };
}

/**
 * Not `WITH (FORCE)`: no role of ours may terminate an autovacuum worker, which belongs to the superuser, and FORCE
 * refuses then. A plain DROP makes such a worker leave by itself.
 */
async function drop(name: string): Promise<void> {
  await onServer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  await onServer(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND usename = current_user`,
  );
  await onServer(`DROP DATABASE ${name}`);
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject('postgresServerUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
