import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stopServer } from '../../../src/dev/server.ts';

/**
 * Creates a folder for the embedded server of a test. At the end of the test, stops the server and removes the
 * folder.
 */
export function serverFolder(): string {
  const home = mkdtempSync(join(tmpdir(), 'enrich-server-'));
  const directory = join(home, 'server');
  onTestFinished(async () => {
    await stopServer(directory);
    rmSync(home, { recursive: true, force: true });
  });
  return directory;
}
