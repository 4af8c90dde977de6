import { describeErrorCode, Problem, UsageProblem, exitCodes } from '../../domain/problem.ts';
import foreignKinds from './foreign-kinds.json' with { type: 'json' };
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';

const readBytesAtOnce = 1024 * 1024;
/** Bytes between turns of the event loop. 128 KB outgrew the young heap: page faults doubled the time in the kernel. */
const pieceBytes = 64 * 1024;

/** Bytes at the beginning of a file that show its format and encoding. */
const headBytes = 4_096;

/** Maximum bytes of an unpacked file. A small gzip file could otherwise fill the disk of the warehouse. */
const maxUnpackedBytes = 16 * 1024 ** 3;

/** Size and time of a file. If one of them changes, so has the content. */
export interface FileState {
  readonly bytes: number;
  readonly modifiedMilliseconds: number;
}

/** Reads the state of a file, and refuses a file that cannot be an export. @throws Problem `export.*` */
export async function fileState(path: string): Promise<FileState> {
  const found = await stat(path).catch(refusing(path));
  if (!found.isFile())
    throw new UsageProblem('export.not-a-file', 'this is a folder or a device, and no regular file', {
      where: path,
      next: 'name one CSV file; a pipe is read with: enrich run - < PIPE',
    });
  if (found.size === 0) throw emptyFileProblem(path);
  return { bytes: found.size, modifiedMilliseconds: found.mtimeMs };
}

/** Computes SHA-256 (in hexadecimal) of the stored bytes, to which a run is bound. @throws Problem `export.*` */
export async function hashExport(path: string, signal?: AbortSignal): Promise<string> {
  await fileState(path);
  const hash = createHash('sha256');
  for await (const piece of readStoredBytes(path, signal)) hash.update(piece);
  return hash.digest('hex');
}

/** Reads the first kilobytes of a file, unpacked. Whether the file is gzip depends on its bytes, not on its name. */
export async function readFileHead(path: string): Promise<{ readonly head: Buffer; readonly gzip: boolean }> {
  let gzip = false;
  for await (const piece of readStoredBytes(path)) {
    gzip = piece[0] === 0x1f && piece[1] === 0x8b;
    break;
  }
  for await (const piece of readBytes(path, gzip))
    return { head: Buffer.from(piece.subarray(0, headBytes)), gzip };
  throw emptyFileProblem(path);
}

/** Reads the stored bytes in pieces, each valid until the next one. @throws Problem `export.*` */
async function* readStoredBytes(path: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const handle = await open(path).catch(refusing(path));
  const memory = Buffer.allocUnsafeSlow(readBytesAtOnce);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await handle.read(memory, 0, memory.length, null).catch(refusing(path));
      if (bytesRead === 0) return;
      for (let start = 0; start < bytesRead; start += pieceBytes) {
        yield memory.subarray(start, Math.min(start + pieceBytes, bytesRead));
        await setImmediate();
      }
    }
  } finally {
    await handle.close();
  }
}

/** Reads and unpacks the bytes in pieces, each valid until the next one. @throws Problem `export.*` */
export async function* readBytes(
  path: string,
  gzip: boolean,
  signal?: AbortSignal,
  maxUnpacked = maxUnpackedBytes,
): AsyncGenerator<Buffer> {
  if (!gzip) {
    yield* readStoredBytes(path, signal);
    return;
  }
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  // An error of one stream ends the other, and the loop below throws the error.
  pipeline(createReadStream(path, { ...(signal && { signal }) }), gunzip, () => {});
  let bytes = 0;
  const what = `the gzip file unpacks to more than ${maxUnpacked} bytes`;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > maxUnpacked)
        throw new UsageProblem('export.too-large', what, {
          where: path,
          next: 'check that this is the right export; split a large export',
        });
      yield piece;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Problem) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw fileProblem(path, error);
    throw new UsageProblem('export.gzip-damaged', 'the gzip file is damaged or cut off', {
      where: path,
      next: 'copy or export it again; gzip -t FILE checks it',
      cause: error,
    });
  }
}

export function emptyFileProblem(path: string): Problem {
  return new UsageProblem('export.empty', 'the file is empty', {
    where: path,
    next: 'export the contacts again, with a header line and one line for each contact',
  });
}

/** Makes an error handler that throws the Problem of a file that cannot be read. */
function refusing(path: string): (error: unknown) => never {
  return (error) => {
    throw fileProblem(path, error);
  };
}

function fileProblem(path: string, cause: unknown): Problem {
  const code = (cause as NodeJS.ErrnoException).code;
  const options = { where: path, cause };
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new UsageProblem('export.missing', 'there is no such file', {
      ...options,
      next: 'check the path, and that this machine sees the file; its name must be UTF-8',
    });
  const what = `the file cannot be read: ${describeErrorCode(code)}`;
  if (code === 'EACCES' || code === 'EPERM')
    return new UsageProblem('export.not-permitted', what, {
      ...options,
      next: 'give the user of this process the right to read the file',
    });
  return new Problem('export.unreadable', what, {
    ...options,
    next: 'check the disk or the network share that it is on; what was read so far is kept',
  });
}

/** Refuses a file that is not delimited text. @param head first kilobytes, unpacked @throws Problem `export.not-csv` */
export function refuseUnreadableFormat(path: string, head: Buffer): void {
  const text = head.toString('latin1').replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '');
  // Latin-1 has one character per byte. The file name distinguishes a workbook from another ZIP archive.
  const named = `${text} ${basename(path)}`;
  const kind = foreignKinds.find(({ beginning }) => new RegExp(`^${beginning}`, 'iu').test(named));
  if (!kind) return;
  const { name, next } = kind;
  throw new UsageProblem('export.not-csv', `this is no CSV file but ${name}`, { where: path, next });
}

/** Refuses a file that has changed since its state was read. @throws Problem `export.changed` */
export async function refuseChangedFile(path: string, before: FileState): Promise<void> {
  const now = await fileState(path);
  if (now.bytes !== before.bytes || now.modifiedMilliseconds !== before.modifiedMilliseconds)
    throw changedExportProblem(path);
}

export function changedExportProblem(path: string): Problem {
  return new Problem('export.changed', 'the file was changed after the run was begun', {
    where: path,
    next: 'repeat the command when no program writes to the file; nothing was paid',
    exitCode: exitCodes.failed,
  });
}
