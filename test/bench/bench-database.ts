import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/dev/postgres.ts';
import { stopServer } from '../../src/dev/server.ts';
import { migrate } from '../../src/db/migrate.ts';

/** A migrated database and a folder for files, for one benchmark. */
interface BenchDatabase {
  readonly databaseUrl: string;
  readonly folder: string;
  /** Removes the folder, and the database if it is an embedded one. */
  readonly close: () => Promise<void>;
}

/** @param given address of an empty database; undefined: an embedded PostgreSQL of its own */
export async function openBenchDatabase(given?: string): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'enrich-bench-'));
  const directory = join(folder, 'postgres');
  const databaseUrl = given ?? (await startEmbeddedPostgres({ directory })).databaseUrl;
  const close = async (): Promise<void> => {
    if (given === undefined) await stopServer(directory);
    rmSync(folder, { recursive: true, force: true });
  };
  await migrate(databaseUrl).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { databaseUrl, folder, close };
}
