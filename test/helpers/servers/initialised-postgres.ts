import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/dev/postgres.ts';
import { stopServer } from '../../../src/dev/server.ts';

/**
 * Initialises one PostgreSQL data directory for a test file, because copying it takes less time than initialising
 * another one.
 *
 * @returns a function that copies the data directory and its password to the directory of a server that was not started
 *   yet
 */
export async function initialisedPostgres(): Promise<(directory: string) => void> {
  const original = mkdtempSync(join(tmpdir(), 'enrich-initialised-'));
  afterAll(() => rmSync(original, { recursive: true, force: true }));
  await startEmbeddedPostgres({ directory: original, durable: false });
  await stopServer(original);
  return (directory) => {
    mkdirSync(directory, { recursive: true });
    // `cp -p` keeps the owner of the files, who is another user if the tests run as root.
    execFileSync('cp', ['-Rp', join(original, 'data'), join(original, 'password'), directory]);
  };
}
