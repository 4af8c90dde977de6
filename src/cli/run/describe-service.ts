import type { Config } from '../../config/settings.ts';

/**
 * Whom a command asks, in one line. Said before anything is planned: invented people must never be taken for real ones
 * because a variable was not exported.
 */
export function describeService({
  service,
  temporalAddress,
}: Pick<Config, 'service' | 'temporalAddress'>): string {
  if (service.baseUrl !== undefined) return `service: ${new URL(service.baseUrl).host}`;
  return temporalAddress === undefined
    ? 'service: the sandbox on this machine (invented people, no cost); set ENRICHMENT_BASE_URL for a real one'
    : `service: the one that the workers of ${temporalAddress} ask; ENRICHMENT_BASE_URL is not set here, ` +
        'so whom it has answered for is not known before they begin';
}
