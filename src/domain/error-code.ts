/** The code of an error, such as ECONNREFUSED. If several addresses of a host failed, the first failure counts. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : errorCode(errors[0]);
}

/** Whether an error says that there is no trusted TLS connection: a retry fails until a person corrects something. */
export function isUntrusted(code: string): boolean {
  return /^ERR_(?:TLS|SSL)_|CERT|^EPROTO$|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

/** What a person can do about it, behind the check of the address. */
export const trustStep =
  'the clock of this machine and its certificates (NODE_EXTRA_CA_CERTS for a private authority)';
