import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Said } from './observation.ts';
import { lockLog, project } from './project.ts';

/** What an answer or a delivery says, as this release reads it, in place of what an observation has. */
export interface Reread {
  readonly observationId: string;
  readonly personKey: string;
  readonly said: Said;
}

/**
 * Writes what this release reads into observations of one service, and projects their people. When and by whom a
 * value was learned stays, so that the history has it from then on. Observations that reuse another one say what that
 * one says.
 *
 * @param toJson how values become JSON text: `exactJson` of the service
 * @returns how many observations changed
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
  const said = entries.map(({ observationId, said: each }) => ({ ...each, observation_id: observationId }));
  const { rows } = await sql<{ changed: number }>`
    with said as materialized (
      select s.*, case when s.organization is not null then sha256(convert_to(s.organization::text, 'UTF8')) end as hash
      from jsonb_to_recordset(${toJson(said)}::jsonb) as s (observation_id bigint, organization_key text,
        identity_keys text[], facts jsonb, organization jsonb)
    ), companies as (
      insert into organization_facts (facts_hash, facts)
      select distinct on (hash) hash, organization from said where hash is not null
      order by hash
      on conflict do nothing
    ), changed as (
      update observations o
      set facts = s.facts, organization_key = s.organization_key, organization_facts = s.hash,
        identity_keys = coalesce(s.identity_keys, '{}')
      from said s
      where o.service = ${service}
        and o.person_key = any(${of.people}::text[])
        and s.observation_id in (o.observation_id, o.origin_observation_id)
        and row(o.facts, o.organization_key, o.organization_facts, o.identity_keys)
          is distinct from row(s.facts, s.organization_key, s.hash, coalesce(s.identity_keys, '{}'))
      returning o.observation_id
    )
    select count(*)::int as changed from changed
  `.execute(transaction);
  const { changed } = rows[0]!;
  if (changed > 0) await project(transaction, of);
  return changed;
}
