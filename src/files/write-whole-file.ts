import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { asUnwritable } from './unwritable.ts';

/**
 * Writes a file under another name and renames it, so that a reader finds the old file or the complete new one. Only
 * this user can read the file, because it holds personal data. A device or a pipe is written directly: a rename would
 * replace it.
 *
 * @throws Problem `output.unwritable`
 */
export async function writeWholeFile(rows: NodeJS.ReadableStream, path: string): Promise<void> {
  const isReplaced = await isRegularOrMissing(path);
  const target = isReplaced ? `${path}.partial` : path;
  try {
    await pipeline(rows, createWriteStream(target, { mode: 0o600 }));
    if (isReplaced) await rename(target, path);
  } catch (error) {
    if (isReplaced) await rm(target, { force: true });
    throw asUnwritable(error, 'the file', path);
  }
}

async function isRegularOrMissing(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isFile() || found.isDirectory();
}
