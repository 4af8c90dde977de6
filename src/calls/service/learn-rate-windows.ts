import { readDatabaseTime, recordReports } from '../../ledger/rate-reports.ts';
import { bulkMatchScope, matchScope, webhookResultScope } from '../../ledger/rate-windows.ts';
import type { OperationUsage, ServiceClient } from '../../service/client.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';
import type { Warehouse } from '../../db/database.ts';

/** The product works without these statistics, so it waits no longer for them. */
const patienceMilliseconds = 5_000;

const scopes: readonly string[] = [bulkMatchScope, matchScope, webhookResultScope];

/**
 * Reads the team's use of its rate windows from the service and stores it as rate reports. If the key may not read
 * usage, the headers of the first answer report the windows.
 *
 * @param service name of the service in the options of runs
 * @returns the failure, or undefined
 */
export async function learnRateWindows(
  warehouse: Warehouse,
  service: string,
  client: ServiceClient,
): Promise<ServiceFailure | undefined> {
  const beganAt = await readDatabaseTime(warehouse.database);
  try {
    for (const usage of await client.apiUsage(AbortSignal.timeout(patienceMilliseconds))) {
      const scope = scopeOf(usage);
      if (scope !== undefined)
        await recordReports(
          warehouse.database,
          { service, scope },
          { beganAt },
          { rateLimits: usage.windows },
        );
    }
    return undefined;
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}

/** Returns the use of the windows of bulk calls; undefined if the statistics lack it. */
export function bulkUsage(usages: readonly OperationUsage[]): OperationUsage | undefined {
  return usages.find((usage) => scopeOf(usage) === bulkMatchScope);
}

/** Names the scope: `["api/v1/people", "bulk_match"]` is `people/bulk_match`. Polls have an id behind their name. */
function scopeOf({ path, action }: OperationUsage): string | undefined {
  const name = `${path}/${action}`.replace(/^\/?api\/v1\//, '');
  return scopes.find(
    (scope) => name === scope || (scope === webhookResultScope && name.startsWith(`${scope}/`)),
  );
}
