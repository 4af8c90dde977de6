import type { Config, Credential, ServiceSettings } from '../../config/settings.ts';
import { acquireStack } from '../../dev/stack.ts';
import { createServiceClient, type ServiceClient } from '../../service/client.ts';
import { tell } from '../terminal/output.ts';

/**
 * Runs `use` with a client of the service; without ENRICHMENT_BASE_URL, of the sandbox. Opens neither the database nor
 * Temporal.
 */
export async function withService<Result>(
  config: Config,
  use: (
    client: ServiceClient,
    service: {
      readonly baseUrl: string;
      readonly sandbox: boolean;
      readonly credential: Credential['kind'] | undefined;
    },
  ) => Promise<Result>,
): Promise<Result> {
  const stack = await acquireStack(config, { sandbox: true }, tell);
  try {
    const { baseUrl = '', credential } = stack.service;
    const service = { baseUrl, sandbox: stack.embedded.sandbox, credential: credential?.kind };
    return await withClient({ ...config.service, ...stack.service }, (client) => use(client, service));
  } finally {
    await stack.release();
  }
}

/** Opens a client, and closes it after its use. */
export async function withClient<Result>(
  settings: ServiceSettings,
  use: (client: ServiceClient) => Promise<Result>,
): Promise<Result> {
  const client = createServiceClient(settings);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
