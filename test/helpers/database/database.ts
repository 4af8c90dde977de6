import { randomBytes } from 'node:crypto';
import { afterAll, inject } from 'vitest';
import { openWarehouse, type WarehouseOptions } from '../../../src/db/database.ts';
import { databasePrefix, templateName, executeAt } from './global-setup.ts';
import { testWarehouse, type TestWarehouse } from './test-warehouse.ts';

/**
 * Creates a database for a test file, with all migrations applied. The database ends with the server: a file system
 * that has just removed the thousand files of a database creates the files of a new database ten times slower.
 *
 * @param options `empty` for a database without any schema
 * @returns the URL of the database
 */
export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<string> {
  const name = `${databasePrefix}${randomBytes(6).toString('hex')}`;
  const template = options.empty ? 'template0' : templateName;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = new URL(inject('postgresServerUrl'));
  url.pathname = `/${name}`;
  return url.href;
}

/** Opens a warehouse in a database of its own, for a test file. */
export async function openTestWarehouse(options: WarehouseOptions = {}): Promise<TestWarehouse> {
  return testWarehouse(openWarehouse(await createTestDatabase(), options));
}

/** Opens the warehouse of a test file, at the top of the file, and closes it after the last test. */
export async function warehouseOfFile(options: WarehouseOptions = {}): Promise<TestWarehouse> {
  const warehouse = await openTestWarehouse(options);
  afterAll(() => warehouse.close());
  return warehouse;
}

/** Executes a statement on the shared server of the test run. */
export function onServer(statement: string): Promise<unknown> {
  return executeAt(inject('postgresServerUrl'), statement);
}
