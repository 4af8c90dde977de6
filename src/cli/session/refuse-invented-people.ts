import { serviceName } from '../../config/settings.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { sandbox } from '../../domain/runs/asked-service.ts';
import { servicesOfRuns } from '../../runs/runs.ts';
import type { Session } from './session.ts';

/**
 * Keeps the sandbox's invented people out of a warehouse with contacts of a real service, if `ENRICHMENT_BASE_URL` was
 * forgotten.
 *
 * @throws Problem `sandbox.other-runs`
 */
export async function refuseInventedPeople({ config, warehouse }: Session): Promise<void> {
  if (serviceName(config) !== sandbox) return;
  const other = (await servicesOfRuns(warehouse)).find((service) => service !== sandbox);
  if (other === undefined) return;
  throw new UsageProblem(
    'sandbox.other-runs',
    `this warehouse has runs of the service ${other}, and the sandbox would add invented people`,
    {
      where: config.databaseUrl === undefined ? 'ENRICH_DATA_DIR' : 'DATABASE_URL',
      next:
        'set ENRICHMENT_BASE_URL for a service; for the sandbox, use another warehouse, such as ENRICH_DATA_DIR of a ' +
        'new folder without DATABASE_URL; nothing was changed',
    },
  );
}
