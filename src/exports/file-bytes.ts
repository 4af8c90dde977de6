import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Problem, exitCodes } from '../domain/problem.ts';

/** Small enough that the event loop serves the database between two pieces, large enough to keep the parser busy. */
const pieceBytes = 128 * 1024;

/** What a file looks like from outside: if either figure changes, it is not the same content any more. */
export interface FileState {
  readonly bytes: number;
  readonly modifiedMilliseconds: number;
}

/**
 * Looks a file up and refuses what cannot be an export.
 *
 * @throws Problem `export.missing`, `export.not-a-file`, `export.unreadable`, `export.empty`
 */
export async function fileState(path: string): Promise<FileState> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileProblem(path, error);
  });
  if (!found.isFile()) {
    throw new Problem(
      'export.not-a-file',
      found.isDirectory() ? 'this is a directory' : 'this is no regular file',
      {
        where: path,
        next: 'name the CSV file itself; a pipe cannot be read twice, so write it to a file first',
        exitCode: exitCodes.usage,
      },
    );
  }
  if (found.size === 0) throw emptyFile(path);
  return { bytes: found.size, modifiedMilliseconds: found.mtimeMs };
}

/** Whether a file begins as gzip does, whatever it is called. */
export async function isGzip(path: string): Promise<boolean> {
  const handle = await open(path).catch((error: unknown) => {
    throw fileProblem(path, error);
  });
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

/**
 * The bytes of a file piece by piece, as they are stored.
 *
 * @throws Problem `export.unreadable`
 */
export async function* readStoredBytes(path: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const stream = createReadStream(path, { highWaterMark: pieceBytes, ...(signal && { signal }) });
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    signal?.throwIfAborted();
    throw fileProblem(path, error);
  }
}

/**
 * The bytes of a file piece by piece, unpacked where it is gzip.
 *
 * @throws Problem `export.unreadable`, `export.gzip-damaged`
 */
export async function* readBytes(path: string, gzip: boolean, signal?: AbortSignal): AsyncGenerator<Buffer> {
  if (!gzip) {
    yield* readStoredBytes(path, signal);
    return;
  }
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  // A failure of either stream ends the other, and comes out of the loop below.
  pipeline(createReadStream(path, { ...(signal && { signal }) }), gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    signal?.throwIfAborted();
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw fileProblem(path, error);
    throw new Problem('export.gzip-damaged', 'the gzip file is damaged or cut off', {
      where: path,
      next: 'copy or export it again; gzip -t FILE checks it',
      cause: error,
    });
  }
}

/** Nothing in the file, or nothing but blank lines. */
export function emptyFile(path: string): Problem {
  return new Problem('export.empty', 'the file is empty', {
    where: path,
    next: 'export the contacts again, with a header line and one line for each contact',
    exitCode: exitCodes.usage,
  });
}

function fileProblem(path: string, error: unknown): Problem {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new Problem('export.missing', 'there is no such file', {
      where: path,
      next: 'check the path; it is relative to the current folder',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
  return new Problem('export.unreadable', `the file cannot be read (${code})`, {
    where: path,
    next:
      code === 'EACCES'
        ? 'give the user that runs this the right to read it'
        : 'check the disk or the network share that it is on; what was read so far is kept',
    cause: error,
  });
}
