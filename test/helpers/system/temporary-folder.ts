import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/**
 * Creates a folder and removes it at the end.
 *
 * @param atEnd `afterAll`: after the tests of the file; `onTestFinished`: after the test
 */
export function temporaryFolder(atEnd: (remove: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), 'enrich-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
