import { exitCodes } from '../domain/problem.ts';

/** Errors of the system that last until a person names another file or folder, or changes who may write to it. */
const wrongPaths = [
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'EEXIST',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENAMETOOLONG',
  'EINVAL',
];

/**
 * The exit code of a command whose output cannot be written: wrong usage if the path is wrong, because the same command
 * again would fail as well; otherwise, such as on a full disk, a failure.
 *
 * @param code error code of the system
 */
export function exitCodeOfUnwritable(code: unknown): number {
  return wrongPaths.includes(String(code)) ? exitCodes.usage : exitCodes.failed;
}
