import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../../src/dev/postgres.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { readSourceStatements, type SourceStatement } from './source-statements.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The shared PostgreSQL of this run; its role may create databases. */
    postgresServerUrl: string;
    /** The raw statements of `src`, with their row types. */
    sourceStatements: readonly SourceStatement[];
  }
}

/** Name of the migrated database that `createTestDatabase` copies. */
export const templateName = 'enrich_template';

/** One throw-away PostgreSQL for the whole test run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'enrich-test-'));
  const server = await startEmbeddedPostgres({ directory, durable: false });
  await makeTemplate(server.databaseUrl);
  project.provide('postgresServerUrl', server.databaseUrl);
  project.provide('sourceStatements', readSourceStatements());
  return async () => {
    await stopEmbeddedPostgres(directory);
    rmSync(directory, { recursive: true, force: true });
  };
}

async function makeTemplate(serverUrl: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${templateName}`);
  await client.end();
  const template = new URL(serverUrl);
  template.pathname = `/${templateName}`;
  await migrate(template.href);
}
