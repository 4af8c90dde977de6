import type { Config } from '../config.ts';
import { acquireStack } from '../dev/stack.ts';
import { createServiceClient, type ServiceClient } from '../service/client.ts';
import { tell } from './output.ts';

/** A client of the service for one command; without ENRICHMENT_BASE_URL, of the sandbox. Database and Temporal stay closed. */
export async function withService<Result>(
  config: Config,
  use: (
    client: ServiceClient,
    service: { readonly baseUrl: string; readonly sandbox: boolean },
  ) => Promise<Result>,
): Promise<Result> {
  const stack = await acquireStack(config, { sandbox: true }, tell);
  try {
    const client = createServiceClient({ ...config.service, ...stack.service });
    try {
      return await use(client, { baseUrl: stack.service.baseUrl ?? '', sandbox: stack.embedded.sandbox });
    } finally {
      await client.close();
    }
  } finally {
    await stack.release();
  }
}
