import { Problem, exitCodes } from '../domain/problem.ts';

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

const fullDisk = ['ENOSPC', 'EDQUOT'];

/** Errors of a connection: the database that gives the rows can be lost while they are written. */
const ofConnection = /^E(?:CONN|TIMEDOUT|HOST|NET|AI_|NOTFOUND)/;

/**
 * The failure of the system to write an output, as a problem; any other error as it is. A wrong path is wrong usage,
 * because the same command again would fail as well; otherwise, such as on a full disk, the command has failed.
 *
 * @param what the output, as a sentence names it
 */
export function asUnwritable(error: unknown, what: string, where: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const code = String(error.code);
  if (ofConnection.test(code)) return error;
  return new Problem('output.unwritable', `${what} cannot be written (${code})`, {
    where,
    next: fullDisk.includes(code)
      ? 'free space on the disk, or name a path on another disk'
      : 'name a path in an existing folder that this user may write to',
    exitCode: wrongPaths.includes(code) ? exitCodes.usage : exitCodes.failed,
    cause: error,
  });
}
