import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageProblem } from '../../domain/problem.ts';
import { asUnusable, makeFolder } from '../../files/make-folder.ts';
import { emptyFileProblem } from '../reading/export-bytes.ts';

export type StagedContent = Awaited<ReturnType<typeof writeStaged>>;

/** Maximum size of an export. Exports of contacts are smaller, and disks are larger. */
const maxExportBytes = 16 * 1024 ** 3;

/** Age after which a file counts as abandoned. A program that writes to standard input can pause for hours. */
const abandonedAfterMilliseconds = 24 * 3_600_000;

/** Writes a downloaded export to a file, which ends in `.part` until it is complete. @param where name for errors */
export async function writeStaged(
  folder: string,
  content: AsyncIterable<Uint8Array>,
  where: string,
  maxBytes = maxExportBytes,
) {
  const usable = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw asUnusable(error, folder);
    });
  const partial = join(folder, `${randomBytes(8).toString('hex')}.part`);
  const hash = createHash('sha256');
  let bytes = 0;
  const create = async () => {
    makeFolder(folder);
    return open(partial, 'ax', 0o600);
  };
  const handle = await usable(create());
  try {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge(where, maxBytes);
      await usable(handle.appendFile(piece));
      hash.update(piece);
    }
    if (bytes === 0) throw emptyFileProblem(where);
    // `sync` lets the file survive a power failure.
    await usable(handle.sync());
    const sha256 = hash.digest('hex');
    const path = join(folder, `${sha256}.${randomBytes(8).toString('hex')}`);
    await usable(rename(partial, path));
    return { path, sha256 };
  } catch (error) {
    await removeStagedFile(partial).catch(() => {});
    throw error;
  } finally {
    await handle.close();
  }
}

export async function removeStagedFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Removes files that killed processes have left, after a day. */
export async function removeAbandonedFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < Date.now() - abandonedAfterMilliseconds) await removeStagedFile(path);
  }
}

function tooLarge(where: string, maxBytes: number): UsageProblem {
  return new UsageProblem('export.too-large', `the export is larger than ${maxBytes} bytes`, {
    where,
    next: 'check that this is the right export; split a large export, or download it and name the file',
  });
}
