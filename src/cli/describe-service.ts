import type { Config } from '../config.ts';

/**
 * Whom a command asks, in one line. Said before anything is planned: invented people must never be taken for real ones
 * because a variable was not exported.
 */
export function describeService({ service }: Pick<Config, 'service'>): string {
  return service.baseUrl === undefined
    ? 'service: the sandbox on this machine (invented people, no cost); set ENRICHMENT_BASE_URL for a real one'
    : `service: ${new URL(service.baseUrl).host}`;
}
