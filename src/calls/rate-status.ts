import { recordReports } from '../ledger/rate-reports.ts';
import { bulkMatchScope, matchScope, webhookResultScope } from '../ledger/rate-windows.ts';
import type { OperationUsage, ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import type { Warehouse } from '../db/database.ts';

/** Statistics are a convenience: nothing waits for them for longer. */
const patienceMilliseconds = 5_000;

const scopes: readonly string[] = [bulkMatchScope, matchScope, webhookResultScope];

/**
 * Asks what the team has used of its rate windows, of every endpoint that we call, and lets it count from now on. Not
 * every key may ask, and not every service answers: then the headers of the first answer tell.
 *
 * @param service as the runs name it
 * @returns why the service does not tell; undefined where it did
 */
export async function learnRateWindows(
  warehouse: Warehouse,
  service: string,
  client: ServiceClient,
): Promise<ServiceFailure | undefined> {
  try {
    for (const usage of await client.apiUsage(AbortSignal.timeout(patienceMilliseconds))) {
      const scope = scopeOf(usage);
      if (scope !== undefined)
        await recordReports(warehouse.database, { service, scope }, undefined, { rateLimits: usage.windows });
    }
    return undefined;
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}

/** What is used of the windows of bulk calls; undefined where the statistics say nothing of them. */
export function bulkUsage(usages: readonly OperationUsage[]): OperationUsage | undefined {
  return usages.find((usage) => scopeOf(usage) === bulkMatchScope);
}

/** `["api/v1/people", "bulk_match"]` is `people/bulk_match`; what follows the name of polls is not shown anywhere. */
function scopeOf({ path, action }: OperationUsage): string | undefined {
  const name = `${path}/${action}`.replace(/^\/?api\/v1\//, '');
  return scopes.find(
    (scope) => name === scope || (scope === webhookResultScope && name.startsWith(`${scope}/`)),
  );
}
