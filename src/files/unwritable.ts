import { describeCode } from '../domain/error-code.ts';
import { Problem, exitCodes } from '../domain/problem.ts';

/** Codes of errors that last until a person names another file or folder, or changes its permissions. */
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

/** Codes of connection errors: the connection to the database that returns the rows can be lost during the writing. */
const ofConnection = /^E(?:CONN|TIMEDOUT|HOST|NET|AI_|NOTFOUND)/;

/**
 * Turns the error of an output that cannot be written into a problem. Returns any other error unchanged. A wrong path
 * is wrong usage, because the same command would fail again. Any other cause, such as a full disk, is a failure of the
 * command.
 *
 * @param what the output, as a sentence names it
 */
export function asUnwritable(error: unknown, what: string, where: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const code = String(error.code);
  if (ofConnection.test(code)) return error;
  const reason = code === 'ENOENT' ? `the folder does not exist (${code})` : describeCode(code);
  return new Problem('output.unwritable', `${what} cannot be written: ${reason}`, {
    where,
    next: fullDisk.includes(code)
      ? 'free space on the disk, or name a path on another disk'
      : 'name a path in an existing folder that this user may write to',
    exitCode: wrongPaths.includes(code) ? exitCodes.usage : exitCodes.failed,
    cause: error,
  });
}
