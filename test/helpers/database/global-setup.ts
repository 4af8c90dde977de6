import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../../src/dev/postgres.ts';
import { stopServer } from '../../../src/dev/server.ts';
import { migrate } from '../../../src/db/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The shared PostgreSQL of this run; its role may create databases. */
    postgresServerUrl: string;
  }
}

/** Prefix of the names of all test databases. */
export const databasePrefix = 'enrich_test_';
/** Name of the migrated database that `createTestDatabase` copies. */
export const templateName = `${databasePrefix}template`;

/** Starts one temporary PostgreSQL for the whole test run, or uses the server of `TEST_DATABASE_URL`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL'];
  const { serverUrl, close } = given === undefined ? await startServer() : serverOf(given);
  await makeTemplate(serverUrl);
  project.provide('postgresServerUrl', serverUrl);
  return close;
}

interface TestServer {
  readonly serverUrl: string;
  readonly close: () => Promise<void>;
}

async function startServer(): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), 'enrich-test-'));
  const { databaseUrl } = await startEmbeddedPostgres({ directory, durable: false });
  const close = async (): Promise<void> => {
    await stopServer(directory);
    rmSync(directory, { recursive: true, force: true });
  };
  return { serverUrl: databaseUrl, close };
}

/** Uses a server of the developer, and removes only the test databases from it at the end. */
function serverOf(serverUrl: string): TestServer {
  const close = async (): Promise<void> => {
    const databases = await executeAt<{ name: string }>(
      serverUrl,
      `select datname as name from pg_database where starts_with(datname, '${databasePrefix}')`,
    );
    for (const { name } of databases) await executeAt(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
  };
  return { serverUrl, close };
}

async function makeTemplate(serverUrl: string): Promise<void> {
  await executeAt(serverUrl, `CREATE DATABASE ${templateName}`);
  const template = new URL(serverUrl);
  template.pathname = `/${templateName}`;
  await migrate(template.href);
}

/** Executes a statement at the URL of a database, with a connection of its own. @returns the rows */
export async function executeAt<Row extends QueryResultRow = Record<string, unknown>>(
  connectionString: string,
  statement: string,
): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
