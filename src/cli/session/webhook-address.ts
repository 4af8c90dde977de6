import type { Config } from '../../config/settings.ts';
import { isLoopback } from '../../domain/text/loopback.ts';

/**
 * The address that the service is told to deliver to.
 *
 * @param serviceUrl address of the service: one on this machine can reach a receiver that only this machine can reach
 * @returns undefined where the service could not reach any: results are then polled
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
