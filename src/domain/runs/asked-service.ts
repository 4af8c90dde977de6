/** The name of the sandbox in the warehouse, if commands start it themselves. */
export const sandbox = 'sandbox';

/** The service that a run asks, as a person reads it: invented people must never be taken for real ones. */
export function describeAskedService(service: string): string {
  return service === sandbox ? 'the sandbox (invented people, no cost)' : service;
}

/** An address without password and key, because people pass reports on. */
export function withoutSecrets(service: string): string {
  if (!URL.canParse(service)) return service;
  const { protocol, host, pathname } = new URL(service);
  return `${protocol}//${host}${pathname}`;
}
