import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageProblem } from '../../domain/problem.ts';
import { asUnusable, makeFolder } from '../../files/make-folder.ts';
import { emptyFile } from '../reading/export-bytes.ts';

export interface StagedContent {
  readonly path: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Larger than any export of contacts, and smaller than a disk. */
const mostExportBytes = 16 * 1024 ** 3;

/** A program that writes to standard input can pause for hours. */
const abandonedAfterMilliseconds = 24 * 3_600_000;

/**
 * Writes content to a file in the folder for downloaded exports, until its rows are staged. If the content ends with an
 * error, the file is removed. Only the user of this process may read the files, because they have personal data.
 *
 * The file name has the hash of the content. Each download has its own file, so removing one affects no other process.
 * Incomplete files end in `.part`.
 *
 * @param where name of the export for errors
 * @throws Problem `export.empty`, `export.too-large`; `data-directory.unusable`, so that a full disk is not retried
 */
export async function writeStaged(
  folder: string,
  content: AsyncIterable<Uint8Array>,
  where: string,
  mostBytes = mostExportBytes,
): Promise<StagedContent> {
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
      if (bytes > mostBytes) throw tooLarge(where, mostBytes);
      await usable(handle.appendFile(piece));
      hash.update(piece);
    }
    if (bytes === 0) throw emptyFile(where);
    // Flushed, so that the file survives a power failure.
    await usable(handle.sync());
    const sha256 = hash.digest('hex');
    const path = join(folder, `${sha256}.${randomBytes(8).toString('hex')}`);
    await usable(rename(partial, path));
    return { path, sha256 };
  } catch (error) {
    await removeStaged(partial).catch(() => {});
    throw error;
  } finally {
    await handle.close();
  }
}

export async function removeStaged(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Removes files of killed processes after a day. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < Date.now() - abandonedAfterMilliseconds) await removeStaged(path);
  }
}

function tooLarge(where: string, mostBytes: number): UsageProblem {
  return new UsageProblem('export.too-large', `the export is larger than ${mostBytes} bytes`, {
    where,
    next: 'check that this is the right export; split a large export, or download it and name the file',
  });
}
