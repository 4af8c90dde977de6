import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { isValid } from '../../db/valid-entries.ts';
import { writeAboutPeople } from '../../suppression/write-about-people.ts';
import { lockLog, project } from '../rebuild.ts';
import { logJson } from './append-to-log.ts';
import type { ObservedFacts } from './observation.ts';

const observationsPerBatch = 5_000;

/** SQL: the later observations `n` of the person of `o` that count. */
const laterOf = sql`
  from observation_log n
  where n.service = o.service
    and n.person_key = o.person_key
    and (n.asked_at, n.observation_id) > (o.asked_at, o.observation_id)
    and ${sql.raw(isValid('n'))}`;

/**
 * SQL condition over an observation `o` and its person `p`: no current value comes from the observation, so that the
 * projections stay the same without it. An
 * address or a number keeps what later entries about it leave out, such as a do-not-call status, or that it is the
 * address of the profile. The newest answer with an address decides which addresses of waterfalls count. Observations
 * of undone runs stay, because an undo can be reverted.
 */
const isReplaced = sql`
  ${sql.raw(isValid('o'))}
  and not exists (select from jsonb_each_text(p.said_by) as cited where cited.value = o.observation_id::text)
  and not exists (
    select from (values ('emails', 'email'), ('phones', 'number')) as list (name, key)
    cross join lateral jsonb_array_elements(o.facts -> list.name) as entry
    cross join lateral jsonb_object_keys(entry) as member
    where not exists (
      select ${laterOf} and exists (
        select from jsonb_array_elements(n.facts -> list.name) as later
        where later -> list.key = entry -> list.key
          and later ? member
          and (member <> 'kind' or entry ->> 'kind' is distinct from 'profile' or later ->> 'kind' = 'profile'))))
  and (not o.facts ? 'email' or exists (select ${laterOf} and n.facts ? 'email'))
  and not exists (
    select from organization_values g where g.service = o.service and g.organization_key = o.organization_key
      and g.observation_id = o.observation_id)
  and (o.organization_key is null or o.organization_key is distinct from p.organization_key or exists (
    select from observation_log n
    where n.service = o.service and n.person_key = o.person_key and n.organization_key = o.organization_key
      and n.observation_id = (p.said_by ->> 'organization_name')::bigint
      and (n.facts -> 'organization_name') ?& array(select jsonb_object_keys(o.facts -> 'organization_name'))))`;

/** The candidates `c` that are replaced, as observations `o` of people `p`. */
const replacedOf = (candidates: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  from (${candidates}) c
  join observation_log o using (observation_id)
  join people p using (service, person_key)
  where ${isReplaced}`;

/**
 * The candidates that are older than a time. While an undo or a revert is unfinished, projections do not agree with the
 * log, so there are none.
 */
const oldCandidates = (before: RawBuilder<Date | null>): RawBuilder<unknown> => sql`
  from prune_candidates
  where recorded_at < ${before} and not exists (select from runs where undo_unfinished)`;

/** Counts replaced observations that are older than a time. @param before null: none */
export async function countReplaced(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    ${replacedOf(sql`select observation_id ${oldCandidates(before)}`)}
  `.execute(database);
  return rows[0]!.count;
}

/** A candidate; `queuedBy` tells whether it was queued again. The time has the full precision. */
interface Candidate {
  readonly observationId: string;
  readonly recordedAt: string;
  readonly queuedBy: string;
}

/**
 * Removes observations that are older than a time and that newer observations have replaced. The newest observation of
 * a value stays. An undo of a later run cannot restore values of removed observations.
 *
 * @param before null: nothing is removed
 * @param signal ends it between two batches
 * @returns how many were removed
 */
export async function removeReplaced(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  let after: Candidate | undefined;
  do {
    const last = after;
    // No undo begins before the end of the batch.
    const batch = await writeAboutPeople(database, async (transaction) => {
      const candidates = await readCandidates(transaction, before, last);
      const count = await removeOf(transaction, candidates);
      await forget(transaction, candidates);
      return { last: candidates.at(-1), count };
    });
    removed += batch.count;
    after = batch.last;
  } while (after !== undefined && !signal.aborted);
  return removed;
}

async function readCandidates(
  transaction: Transaction<Tables>,
  before: RawBuilder<Date | null>,
  after: Candidate | undefined,
): Promise<readonly Candidate[]> {
  const { rows } = await sql<Candidate>`
    select observation_id as "observationId", recorded_at::text as "recordedAt", queued_by as "queuedBy"
    ${oldCandidates(before)}
      and (recorded_at, observation_id)
        > (${after?.recordedAt ?? '-infinity'}::timestamptz, ${after?.observationId ?? '0'}::bigint)
    order by recorded_at, observation_id
    limit ${observationsPerBatch}
  `.execute(transaction);
  return rows;
}

async function removeOf(transaction: Transaction<Tables>, candidates: readonly Candidate[]): Promise<number> {
  const ids = candidates.map(({ observationId }) => observationId);
  const replaced = replacedOf(sql`select unnest(${ids}::bigint[]) as observation_id`);
  const { rows: people } = await sql<{ service: string; keys: string[] }>`
    select service, array_agg(distinct person_key) as keys ${replaced} group by service
  `.execute(transaction);
  let count = 0;
  for (const { service, keys } of people) {
    const of = { service, people: keys, contacts: [] };
    await lockLog(transaction, of);
    const gone = await sql`
      delete from observation_log where observation_id in (
        select observation_id ${replaced} and service = ${service} and person_key = any(${keys}::text[]))
    `.execute(transaction);
    count += Number(gone.numAffectedRows ?? 0n);
    await project(transaction, of);
  }
  return count;
}

/** Deletes candidates that were compared, except those that another transaction has queued again or is queueing. */
async function forget(transaction: Transaction<Tables>, candidates: readonly Candidate[]): Promise<void> {
  // Each is looked up: retention empties the table, so PostgreSQL expects one candidate, and compared each with all.
  await sql`
    delete from prune_candidates where observation_id = any(array(
      select found.observation_id
      from unnest(${candidates.map(({ observationId }) => observationId)}::bigint[],
        ${candidates.map(({ queuedBy }) => queuedBy)}::xid8[]) as compared (observation_id, queued_by)
      cross join lateral (
        select observation_id from prune_candidates
        where observation_id = compared.observation_id and queued_by = compared.queued_by
        for update skip locked
      ) found))
  `.execute(transaction);
}

/** An answer or a delivery as this release reads it, for an existing observation. */
interface Reread {
  readonly observationId: string;
  readonly personKey: string;
  readonly facts: ObservedFacts;
}

/**
 * Updates observations of one service with the values that this release reads, and projects their people. The time and
 * the origin of an observation stay. An observation that reuses another gets the same values.
 *
 * @returns number of changed observations
 */
export async function rewriteObservations(
  transaction: Transaction<Tables>,
  service: string,
  entries: readonly Reread[],
): Promise<number> {
  if (entries.length === 0) return 0;
  const of = { service, people: [...new Set(entries.map(({ personKey }) => personKey))], contacts: [] };
  await lockLog(transaction, of);
  const { observations, organizations } = logJson(
    entries.map(({ observationId, facts }) => ({ ...facts, observation_id: observationId })),
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
      update observation_log o
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
