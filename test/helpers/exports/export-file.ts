import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Writes export files into a folder that is removed after the tests of the file. */
export function exportFiles(): (content: string | Uint8Array, name?: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'enrich-export-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  let count = 0;
  return (content, name = `contacts-${(count += 1)}.csv`) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
}
