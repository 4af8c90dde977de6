/** The code of an error, such as ECONNREFUSED. If several addresses of a host failed, the first failure counts. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : errorCode(errors[0]);
}

const meanings: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EAI_AGAIN: 'the name server does not answer',
  EBUSY: 'another program uses it',
  ECONNABORTED: 'the connection was closed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a file of this name exists',
  EHOSTUNREACH: 'the host cannot be reached',
  EINVAL: 'the name is not valid',
  EIO: 'the disk reports an error',
  EISDIR: 'this is a folder',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENETUNREACH: 'the network cannot be reached',
  ENFILE: 'too many open files',
  ENOENT: 'no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of the path is no folder',
  ENOTFOUND: 'no such host',
  EPERM: 'not permitted',
  EPIPE: 'the connection was closed',
  EROFS: 'the disk is read-only',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_SOCKET: 'the connection was closed',
};

/**
 * The code of an error with its meaning, for a message: `connection refused (ECONNREFUSED)`. A code without a known
 * meaning stays as it is.
 */
export function describeCode(code: string | undefined): string {
  if (code === undefined) return 'unknown error';
  const meaning = Object.hasOwn(meanings, code) ? meanings[code] : undefined;
  return meaning === undefined ? code : `${meaning} (${code})`;
}

/** Whether an error says that there is no trusted TLS connection: a retry fails until a person corrects something. */
export function isUntrusted(code: string): boolean {
  return /^ERR_(?:TLS|SSL)_|CERT|^EPROTO$|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

/** What a person can do about it, behind the check of the address. */
export const trustStep =
  'the clock of this machine and its certificates (NODE_EXTRA_CA_CERTS for a private authority)';
