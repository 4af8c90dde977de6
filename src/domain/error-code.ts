/** The code of an error, such as ECONNREFUSED. If several addresses of a host failed, the first failure counts. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : errorCode(errors[0]);
}
