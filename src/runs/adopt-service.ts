import { sql } from 'kysely';
import { anyOf } from '../db/one-of.ts';
import type { Warehouse } from '../db/database.ts';
import { freeStatuses } from '../domain/money/attempt-status.ts';
import { claimPeople } from './pages/claims.ts';

/**
 * Assigns a run to the service of its workers, if the command that began the run named no service. Possible until a
 * service may have answered one of its calls. The claims of the run move along; people whom another run asks the new
 * service for get the outcome `in_flight`.
 *
 * @param service of this worker, as in `RunOptions`
 * @returns whether the run is now for that service
 */
export async function adoptService(warehouse: Warehouse, runId: string, service: string): Promise<boolean> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ former: string }>`
      select options ->> 'service' as former from runs
      where run_id = ${runId} and (options ->> 'service' = ${service} or options ->> 'serviceOf' = 'workers'
        and not exists (
          select 1 from attempts a where a.run_id = runs.run_id and a.status not in (${anyOf(freeStatuses)})
        ))
      for update
    `.execute(transaction);
    const former = rows[0]?.former;
    if (former === undefined || former === service) return former === service;
    await sql`
      update runs set options = jsonb_set(options, '{service}', to_jsonb(${service}::text)) where run_id = ${runId}
    `.execute(transaction);
    await sql`
      create temporary table moved_claims on commit drop as
      select identity_key, row_number from claims where run_id = ${runId} and service = ${former}
    `.execute(transaction);
    await transaction
      .deleteFrom('claims')
      .where('run_id', '=', runId)
      .where('service', '=', former)
      .execute();
    await claimPeople(transaction, { runId, service }, sql`moved_claims`);
    return true;
  });
}
