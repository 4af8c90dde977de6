import { createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { asUnwritable } from './unwritable.ts';
import { withDraft } from './with-draft.ts';

/**
 * Writes a file under another name and renames it, so that a reader finds the old file or the complete new one. Only
 * this user can read the file, because it holds personal data. A device or a pipe is written directly: a rename would
 * replace it.
 *
 * @throws Problem `output.unwritable`
 */
export async function writeWholeFile(rows: NodeJS.ReadableStream, path: string): Promise<void> {
  const write = (target: string): Promise<void> => pipeline(rows, createWriteStream(target, { mode: 0o600 }));
  try {
    if (!(await isRegularOrMissing(path))) return await write(path);
    await withDraft(path, async (draft) => {
      await write(draft);
      await rename(draft, path);
    });
  } catch (error) {
    throw asUnwritable(error, 'the file', path);
  }
}

async function isRegularOrMissing(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isFile() || found.isDirectory();
}
