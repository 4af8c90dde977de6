/** The service name of the sandbox that commands start. */
export const sandbox = 'sandbox';

/** Names the service of a run for a person, who must not take the sandbox's invented people for real ones. */
export function describeAskedService(service: string): string {
  return service === sandbox ? 'the sandbox (invented people, no cost)' : service;
}
