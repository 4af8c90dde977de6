import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { logJson } from './log-json.ts';
import type { ObservedFacts } from './observation.ts';
import { lockLog, project } from '../project.ts';

/** An answer or a delivery as this release reads it, for an existing observation. */
export interface Reread {
  readonly observationId: string;
  readonly personKey: string;
  readonly facts: ObservedFacts;
}

/**
 * Updates observations of one service with the values that this release reads, and projects their people. The time and
 * the origin of an observation stay. An observation that reuses another gets the same values.
 *
 * @param toJson how values become JSON text: `exactJson` of the service
 * @returns number of changed observations
 */
export async function rewriteObservations(
  transaction: Transaction<Tables>,
  service: string,
  entries: readonly Reread[],
  toJson: (value: unknown) => string,
): Promise<number> {
  if (entries.length === 0) return 0;
  const of = { service, people: [...new Set(entries.map(({ personKey }) => personKey))], contacts: [] };
  await lockLog(transaction, of);
  const { observations, organizations } = logJson(
    entries.map(({ observationId, facts }) => ({ ...facts, observation_id: observationId })),
    toJson,
  );
  const { rows } = await sql<{ changed: number }>`
    with facts as materialized (
      select *
      from jsonb_to_recordset(${observations}::jsonb) as s (observation_id bigint, organization_key text,
        organization_facts bytea, identity_keys text[], match_keys integer[], facts jsonb)
    ), companies as (
      insert into organization_facts (facts_hash, facts)
      select hash, facts from jsonb_to_recordset(${organizations}::jsonb) as o (hash bytea, facts jsonb)
      order by hash
      on conflict do nothing
    ), changed as (
      update observations o
      set facts = s.facts, organization_key = s.organization_key, organization_facts = s.organization_facts,
        identity_keys = coalesce(s.identity_keys, '{}'), match_keys = coalesce(s.match_keys, '{}')
      from facts s
      where o.service = ${service}
        and o.person_key = any(${of.people}::text[])
        and s.observation_id in (o.observation_id, o.origin_observation_id)
        and row(o.facts, o.organization_key, o.organization_facts, o.identity_keys, o.match_keys)
          is distinct from row(s.facts, s.organization_key, s.organization_facts, coalesce(s.identity_keys, '{}'),
            coalesce(s.match_keys, '{}'))
      returning o.observation_id
    )
    select count(*)::int as changed from changed
  `.execute(transaction);
  const { changed } = rows[0]!;
  if (changed > 0) await project(transaction, of);
  return changed;
}
