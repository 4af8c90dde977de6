import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';

/**
 * Appends observations of undone runs again, for a run that would otherwise pay for them again. Each new observation
 * refers to its origin and has its lookup time. The caller holds the locks of these people, and projects them
 * afterwards.
 */
export async function reuseObservations(
  transaction: Transaction<Tables>,
  {
    runId,
    service,
    personKeys,
  }: { readonly runId: string; readonly service: string; readonly personKeys: readonly string[] },
): Promise<void> {
  if (personKeys.length === 0) return;
  await sql`
    insert into observations (service, person_key, person_id, kind, asked_at, run_id, attempt_id, delivery_id,
      origin_observation_id, organization_key, organization_facts, identity_keys, match_keys, facts)
    select o.service, o.person_key, o.person_id, 'reused', o.asked_at, ${runId}, o.attempt_id, o.delivery_id,
      o.observation_id, o.organization_key, o.organization_facts, o.identity_keys, o.match_keys, o.facts
    from observations o
    join runs u on u.run_id = o.run_id and u.undone_at is not null
    where o.service = ${service}
      and o.person_key = any(${personKeys}::text[])
      and o.kind <> 'reused'
      and not exists (
        select from observations n where n.run_id = ${runId} and n.origin_observation_id = o.observation_id)
    order by o.observation_id
  `.execute(transaction);
}
