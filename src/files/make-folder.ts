import { describeErrorCode, UsageProblem } from '../domain/problem.ts';
import { mkdirSync } from 'node:fs';

/** Creates a folder, readable only by this user, unless it exists. @throws the error of the operating system */
export function makeFolder(path: string): void {
  mkdirSync(path, { mode: 0o700, recursive: true });
}

/** Turns the error of an unusable folder for embedded servers into a Problem. Returns any other error unchanged. */
export function asUnusable(error: unknown, dataDirectory: string): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  const what = `the folder for embedded state cannot be used: ${describeErrorCode(String(error.code))}`;
  return new UsageProblem('data-directory.unusable', what, {
    where: dataDirectory,
    next: 'name a folder that may be written, on a disk that has space: ENRICH_DATA_DIR',
    cause: error,
  });
}
