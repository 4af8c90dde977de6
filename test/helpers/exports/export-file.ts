import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../system/temporary-folder.ts';

/** Writes export files into a folder that is removed after the tests of the file. */
export function exportFiles(): (content: string | Uint8Array, name?: string) => string {
  const directory = temporaryFolder();
  let count = 0;
  return (content, name = `contacts-${(count += 1)}.csv`) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
}
