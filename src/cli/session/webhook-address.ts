import type { Config } from '../../config/settings.ts';
import { isLoopback } from '../../domain/text/loopback.ts';

/**
 * The webhook address that calls give to the service.
 *
 * @param serviceUrl address of the service; a service on this machine can reach a receiver on 127.0.0.1
 * @returns undefined if the service can reach no receiver: the run then polls for late results
 */
export function webhookUrlOf(
  config: Config,
  serviceUrl: string | undefined,
  receiver: { readonly port: number } | undefined,
): string | undefined {
  if (config.webhook.publicUrl !== undefined) return config.webhook.publicUrl;
  const isHere = serviceUrl !== undefined && isLoopback(new URL(serviceUrl).hostname);
  return receiver && isHere ? `http://127.0.0.1:${receiver.port}` : undefined;
}
