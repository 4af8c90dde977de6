import type { Config } from '../../../config/settings.ts';

/**
 * Names the service that a command calls, in one line. Commands print the line before a plan, so that a
 * person who did not export a variable does not take the sandbox's invented people for real ones.
 */
export function describeService({
  service,
  temporalAddress,
}: Pick<Config, 'service' | 'temporalAddress'>): string {
  if (service.baseUrl !== undefined) return `service: ${new URL(service.baseUrl).host}`;
  return temporalAddress === undefined
    ? 'service: the sandbox on this machine (invented people, no cost); set ENRICHMENT_BASE_URL for a real one'
    : `service: the one in the settings of the workers of ${temporalAddress}; ENRICHMENT_BASE_URL is not set here, ` +
        'so the plan does not know whom that service has answered for';
}
