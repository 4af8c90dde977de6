import { describeErrorCode, Problem, UsageProblem } from '../domain/problem.ts';

/** Socket codes and SQLSTATE of an unreachable database, which may also have ended the session (57P0…, 25P03). */
const awayCodes = new Set(
  (
    'ECONNREFUSED ECONNRESET ETIMEDOUT EPIPE ENOTFOUND EHOSTUNREACH EAI_AGAIN ' +
    '08000 08001 08003 08004 08006 57P01 57P02 57P03 57P05 25P03'
  ).split(' '),
);

/**
 * Messages of driver errors without a code. After a connection has closed, every further statement fails with "Not
 * queryable", and the ROLLBACK of a transaction replaces the first error by this error.
 */
const awayMessages = new RegExp(
  [
    'Connection terminated',
    '(?:connection error|closed) and is not queryable',
    'timeout exceeded when trying to connect',
    '^timeout expired$',
    'Query read timeout',
  ].join('|'),
);

/** Codes after which a retry can succeed: deadlock, serialisation, locks, memory, failover, storage. */
const busyCodes = new Set(['40P01', '40001', '55P03', '53000', '53200', '53300', '25006', '57014', '58030']);

/** Error messages without a code of their own: a disk quota, and the first session after a change of the schema. */
const fullDiskMessages = /No space left on device|Disk quota exceeded|could not write init file/;

/** True if the server is unreachable or cannot do the work now. Callers retry, so that no paid result is lost. */
export function isTransientDatabaseError(error: unknown): boolean {
  return isDatabaseUnreachable(error) || busyCodes.has(databaseErrorCode(error) ?? '') || isDiskFull(error);
}

function isDiskFull(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code === '53100' || (code !== undefined && fullDiskMessages.test((error as Error).message));
}

/**
 * Describes a temporary state of the database, such as a full disk, without a statement or a cell of an export.
 *
 * @returns undefined for any other error
 */
export function describeTransientState(error: unknown): Pick<Problem, 'type' | 'message'> | undefined {
  const { type, message } = describeDatabaseFailure(error, '');
  return transientStates.includes(type) ? { type, message } : undefined;
}

const transientStates = ['database.unreachable', 'database.read-only', 'database.disk-full'];

/** True if another transaction wrote first, so that this one can be repeated. */
export function isTransactionConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(databaseErrorCode(error) ?? '');
}

/** The code of a PostgreSQL or socket error, if it has one. */
export function databaseErrorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** True if the server is unreachable or has closed the connection. The same work can succeed later. */
export function isDatabaseUnreachable(error: unknown): boolean {
  const code = databaseErrorCode(error);
  if (code !== undefined && awayCodes.has(code)) return true;
  return error instanceof Error && awayMessages.test(error.message);
}

/** Converts a driver error to a Problem with the next step. A Problem is returned unchanged. */
export function describeDatabaseFailure(error: unknown, databaseUrl: string): Problem {
  if (error instanceof Problem) return error;
  const where = databaseUrlWithoutPassword(databaseUrl);
  const code = databaseErrorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const problem = (type: string, what: string, next: string): Problem =>
    new Problem(type, what, { where, next, cause: error });
  const refusal = (type: string, what: string, next: string): Problem =>
    new UsageProblem(type, what, { where, next, cause: error });
  if (isDatabaseUnreachable(error))
    return problem(
      'database.unreachable',
      `the database does not answer: ${code === undefined ? message : describeErrorCode(code)}`,
      'check DATABASE_URL and that PostgreSQL is running there; nothing was lost, the same command continues',
    );
  if (isDiskFull(error))
    return problem(
      'database.disk-full',
      'the disk of the database is full',
      'free space there and run the same command again: it continues where it stopped',
    );
  switch (code ?? '') {
    case '28P01':
    case '28000':
      return refusal(
        'database.login-refused',
        'the database refuses the user or the password',
        'correct the user and password in DATABASE_URL',
      );
    case '3D000':
      return refusal(
        'database.missing',
        'the database does not exist',
        'correct the name in DATABASE_URL, or create the database, owned by the user in DATABASE_URL',
      );
    case '42501':
      return refusal(
        'database.not-permitted',
        `the database user lacks a right: ${message}`,
        'set DATABASE_URL to the user that owns the database and its tables; for an empty database, CREATE and ' +
          'TEMPORARY on it are enough; analysts query with psql or another client, not with enrich',
      );
    case '25006':
      return problem(
        'database.read-only',
        'the database accepts only reads',
        'let DATABASE_URL lead to the primary server; or end default_transaction_read_only of the database or its ' +
          'user; the same command continues',
      );
    default:
      return problem(
        'database.failed',
        `the database reported: ${message}${code === undefined ? '' : ` (${code})`}`,
        'see the cause in the log of PostgreSQL; the same command continues where it stopped',
      );
  }
}

/** The URL of a database without its password, for example `postgres://user@host:5432/name`. */
export function databaseUrlWithoutPassword(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'DATABASE_URL';
  const url = new URL(databaseUrl);
  const user = url.username === '' ? '' : `${url.username}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}`;
}
