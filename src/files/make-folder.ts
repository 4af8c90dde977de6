import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageProblem } from '../domain/problem.ts';

/**
 * Makes a folder, and those above it, for this user only; a folder that exists stays as it is.
 *
 * Below folders such as /proc, where the system answers "no such file" to every new name, the recursive mode of Node
 * tries again for ever.
 *
 * @throws the error of the system, with its `code`
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeFolder(dirname(path));
    makeFolder(path);
  }
}

/** The failure of the system to use the folder for embedded state, as a problem; any other error as it is. */
export function asUnusable(error: unknown, dataDirectory: string): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  return new UsageProblem(
    'data-directory.unusable',
    `the folder for embedded state cannot be used (${String(error.code)})`,
    {
      where: dataDirectory,
      next: 'name a folder that may be written, on a disk that has space: --data-dir, or ENRICH_DATA_DIR',
      cause: error,
    },
  );
}
