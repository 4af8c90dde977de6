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

/** Far above any export of contacts, and below what fills a disk by mistake. */
const mostExportBytes = 16 * 1024 ** 3;

/** A program can pause for hours while it writes to standard input. */
const abandonedAfterMilliseconds = 24 * 3_600_000;

/**
 * Writes content to a file of the folder that holds fetched exports until their rows are staged. If the content ends
 * with an error, its file is removed. The files have personal data: only the user of this process may read them.
 *
 * A file's name has the hash of its content. Each fetch writes a file of its own, so removing a file takes it from no
 * other process. Incomplete files end in `.part`.
 *
 * @param where the export, for errors
 * @throws Problem `export.empty`, `export.too-large`; `data-directory.unusable`, so that a full disk is no fault of a
 *   connection
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
    // So that a power failure does not lose the file.
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

/** Removes what killed processes left in the folder, after a day. */
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
