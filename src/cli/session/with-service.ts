import { UsageProblem } from '../../domain/problem.ts';
import { sandboxServiceName } from '../../domain/runs/run-options.ts';
import { servicesOfRuns } from '../../runs/runs.ts';
import { serviceName, type Config, type ServiceSettings } from '../../config/settings.ts';
import { createServiceClient, type ServiceClient } from '../../service/client.ts';
import type { PollDependencies } from '../../late-results/sync-late-results.ts';
import type { Session } from './session.ts';

/** Opens a client of the service for `use`, with what polls and checks of the service need. */
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

/** Opens a client of the service for `use`, then waits for its calls and closes it. */
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

/** Refuses to mix the sandbox's invented people and people of a real service in one warehouse. */
export async function refuseMixedWarehouse({ config, warehouse }: Session): Promise<void> {
  const isSandbox = serviceName(config) === sandboxServiceName;
  const other = (await servicesOfRuns(warehouse)).find(
    (service) => (service === sandboxServiceName) !== isSandbox,
  );
  if (other === undefined) return;
  const what = isSandbox
    ? `this warehouse has runs of the service ${other}, and the sandbox would add invented people`
    : 'this warehouse has invented people of the sandbox';
  throw new UsageProblem('sandbox.other-runs', what, {
    where: config.databaseUrl === undefined ? 'ENRICH_DATA_DIR' : 'DATABASE_URL',
    next: isSandbox
      ? 'set ENRICHMENT_BASE_URL for a service; for the sandbox, use another warehouse, or none: without ' +
        'DATABASE_URL it has its own; nothing was changed'
      : 'set DATABASE_URL to another database; nothing was changed',
  });
}

export const sandboxService = 'service: the sandbox on this machine (invented people, no cost)';

/** Names the service that a command will call, so that the sandbox's invented people are not taken for real ones. */
export function describeService({
  service,
  temporalAddress,
}: Pick<Config, 'service' | 'temporalAddress'>): string {
  if (service.baseUrl !== undefined) return `service: ${new URL(service.baseUrl).host}`;
  return temporalAddress === undefined
    ? `${sandboxService}; set ENRICHMENT_BASE_URL for a real one`
    : 'service: that of the workers; without ENRICHMENT_BASE_URL here, the plan does not know whom it has answered for';
}
