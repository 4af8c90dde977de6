import { serviceName, type Config, type Credential, type ServiceSettings } from '../../config/settings.ts';
import { acquireStack } from '../../dev/stack.ts';
import { createServiceClient, type ServiceClient } from '../../service/client.ts';
import type { PollDependencies } from '../../late-results/sync-late-results.ts';
import { tell } from '../terminal/output.ts';
import type { Session } from './session.ts';

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

/** Runs `use` with what calls in a session need: the warehouse, a client of the service, and its limits. */
export function withSessionClient<Result>(
  { config, stack, warehouse }: Session,
  use: (dependencies: PollDependencies) => Promise<Result>,
): Promise<Result> {
  const { rateLimits, service } = config;
  const { callTimeoutSeconds } = service;
  return withClient({ ...service, ...stack.service }, (client) =>
    use({ warehouse, service: serviceName(config), client, rateLimits, callTimeoutSeconds }),
  );
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
