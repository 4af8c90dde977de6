import { randomBytes } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describeErrorCode, Problem, UsageProblem, exitCodes } from '../domain/problem.ts';

/** Writes a draft and renames it, so that a reader finds a complete file. @throws Problem `output.unwritable` */
export async function writeWholeFile(rows: NodeJS.ReadableStream, path: string): Promise<void> {
  const write = (target: string): Promise<void> => pipeline(rows, createWriteStream(target, { mode: 0o600 }));
  try {
    // A rename would replace a device or pipe.
    if (!(await isRegularOrMissing(path))) return await write(path);
    await withDraft(path, async (draft) => {
      await write(draft);
      await rename(draft, path);
    });
  } catch (error) {
    throw asUnwritable(error, 'the file', path);
  }
}

/**
 * Refuses to replace a file that does not begin so, such as a CRM's export. Empty files pass.
 *
 * @throws Problem `output.*`
 */
export async function requireReplaceable(path: string, beginning: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.size === 0) return;
  const expected = Buffer.from(beginning);
  if ((await readBeginning(path, expected.length)).equals(expected)) return;
  const what = 'the file exists, and is not an earlier export with the same columns';
  throw new UsageProblem('output.exists', what, {
    where: path,
    next: 'name another file with --output; or remove this file first, if it is not needed',
  });
}

async function readBeginning(path: string, length: number): Promise<Buffer> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw asUnwritable(error, 'the file', path);
  }
}

async function isRegularOrMissing(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isFile() || found.isDirectory();
}

/**
 * Calls `write` with the path of a draft beside the output; `write` renames the complete draft. An incomplete draft has
 * personal data, so it is removed even if a signal ends the process.
 */
export async function withDraft<Result>(
  output: string,
  write: (draft: string) => Promise<Result>,
): Promise<Result> {
  const name = `.${basename(output)}.${randomBytes(4).toString('hex')}.partial`;
  const draft = join(dirname(output), name);
  const remove = (): void => {
    try {
      rmSync(draft, { recursive: true, force: true });
    } catch {
      // The draft cannot be removed because the folder is unusable. The error of `write` explains this.
    }
  };
  process.once('exit', remove);
  try {
    return await write(draft);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

const fullDisk = ['ENOSPC', 'EDQUOT'];

/** Codes of connection errors. The database connection that returns the rows can be lost while a file is written. */
const ofConnection = /^E(?:CONN|TIMEDOUT|HOST|NET|AI_|NOTFOUND)/;

/** Turns an unwritable output into a Problem: wrong usage, or a failure of the disk. Other errors stay unchanged. */
export function asUnwritable(error: unknown, what: string, where: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const code = String(error.code);
  if (ofConnection.test(code)) return error;
  const reason = code === 'ENOENT' ? `the folder does not exist (${code})` : describeErrorCode(code);
  return new Problem('output.unwritable', `${what} cannot be written: ${reason}`, {
    where,
    next: fullDisk.includes(code)
      ? 'free space on the disk, or name a path on another disk'
      : 'name a path in an existing folder that this user may write to',
    exitCode: fullDisk.includes(code) || code === 'EIO' ? exitCodes.failed : exitCodes.usage,
    cause: error,
  });
}
