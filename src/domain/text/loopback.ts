/**
 * Whether a host is this machine.
 *
 * @param hostname as in `URL`
 */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
