import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { lateKinds, type LateKind } from '../../domain/late-results/delivery-kinds.ts';
import { foundSeconds, type Freshness } from '../../domain/runs/freshness.ts';
import { addressesOfHash } from '../../keys/key-lookups.ts';
import { lockLog, project } from '../rebuild.ts';

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
    kinds,
  }: {
    readonly runId: string;
    readonly service: string;
    readonly personKeys: readonly string[];
    /** Undefined: all. */
    readonly kinds?: readonly string[];
  },
): Promise<void> {
  if (personKeys.length === 0) return;
  await sql`
    insert into observation_log (service, person_key, person_id, kind, asked_at, run_id, attempt_id, delivery_id,
      origin_observation_id, organization_key, organization_facts, identity_keys, match_keys, facts)
    select o.service, o.person_key, o.person_id, 'reused', o.asked_at, ${runId}, o.attempt_id, o.delivery_id,
      o.observation_id, o.organization_key, o.organization_facts, o.identity_keys, o.match_keys, o.facts
    from observation_log o
    join runs u on u.run_id = o.run_id and u.undone_at is not null
    where o.service = ${service}
      and o.person_key = any(${personKeys}::text[])
      and o.kind <> 'reused'
      and (${kinds ?? null}::text[] is null or o.kind = any(${kinds ?? null}::text[]))
      and not exists (
        select from observation_log n where n.run_id = ${runId} and n.origin_observation_id = o.observation_id)
    order by o.observation_id
  `.execute(transaction);
}

/** What a run asks for, whose plan left people out. */
interface LeftOutBy {
  readonly runId: string;
  readonly service: string;
  readonly fieldGroups: readonly string[];
  readonly freshness: Freshness;
}

/** Rows with numbers above `after`, up to `last`. */
interface RowRange {
  readonly after: number;
  readonly last: number;
}

/**
 * Appends observations of undone runs for contacts with a person whom a run left out because such a run had asked for
 * them: otherwise the answer would neither be used nor be asked for again. People of whom a run that counts knows as
 * much are left as they are, so that other runs do not bring back what was undone.
 */
export async function reuseForLeftOut(
  transaction: Transaction<Tables>,
  asked: LeftOutBy,
  rows: RowRange,
): Promise<void> {
  const { runId, service } = asked;
  const read = () => readLeftOut(transaction, asked, rows);
  const people = [...new Set((await read()).flatMap((each) => each.people))];
  if (people.length === 0) return;
  await lockLog(transaction, { service, people, contacts: [] });
  // Before the lock, another run may have appended the same observations.
  for (const { kind, people: personKeys } of await read()) {
    const locked = personKeys.filter((key) => people.includes(key));
    await reuseObservations(transaction, { runId, service, personKeys: locked, kinds: [kind] });
  }
  await project(transaction, { service, people, contacts: [] });
}

async function readLeftOut(
  transaction: Transaction<Tables>,
  { runId, service, fieldGroups, freshness }: LeftOutBy,
  rows: RowRange,
): Promise<readonly { readonly kind: string; readonly people: readonly string[] }[]> {
  const leftOut = await sql<{ kind: string; people: string[] }>`
    with clocks as (
      select * from unnest(${fieldGroups}::text[], ${fieldGroups.map(kindOfGroup)}::text[],
        ${fieldGroups.map((group) => foundSeconds(freshness, group))}::float8[]) as c (field_group, kind, seconds)
    ), left_out as (
      select distinct c.person_key, clocks.kind, clocks.seconds
      from run_rows r
      join runs on runs.run_id = r.run_id
      join contacts c on c.source = runs.source and c.contact_id = r.contact_id and c.service = ${service}
      cross join unnest(r.keys) as own (identity_key)
      cross join lateral (
        select own.identity_key union all (${addressesOfHash(service, sql`own.identity_key`)})
      ) k
      cross join clocks
      cross join lateral (
        select lookup_run from lookup_history
        where key_hash = key_hash(k.identity_key, ${service}) and field_group = clocks.field_group
        offset 0
      ) h
      join lookup_runs a on a.lookup_run = h.lookup_run
      join runs u on u.run_id = a.run_id and u.undone_at is not null
      where r.run_id = ${runId} and r.row_number > ${rows.after} and r.row_number <= ${rows.last}
        and exists (select from runs where undone_at is not null)
    )
    select l.kind, array_agg(distinct l.person_key) as people
    from left_out l
    where not exists (
      select
      from (
        select * from observation_log where service = ${service} and person_key = l.person_key offset 0
      ) o
      join runs u on u.run_id = o.run_id and u.undone_at is null
      left join observation_log origin on origin.observation_id = o.origin_observation_id
      where coalesce(origin.kind, o.kind) in (l.kind, 'reused')
        and extract(epoch from now() - o.asked_at) < l.seconds)
    group by l.kind
  `.execute(transaction);
  return leftOut.rows;
}

/** The kind of the observations that have a group of fields. */
function kindOfGroup(group: string): string {
  return group in lateKinds ? lateKinds[group as LateKind].deliveredBy : 'answer';
}

/**
 * Appends late results of an undone run for the runs that use its answers. The caller holds the locks of the people.
 */
export async function reuseLateResults(
  transaction: Transaction<Tables>,
  { service, attemptId, personKeys }: { service: string; attemptId: string; personKeys: readonly string[] },
): Promise<void> {
  const { rows } = await sql<{ runId: string; people: string[] }>`
    select o.run_id as "runId", array_agg(distinct o.person_key) as people
    from observation_log o
    join runs u on u.run_id = o.run_id and u.undone_at is null
    where o.service = ${service} and o.person_key = any(${personKeys}::text[]) and o.kind = 'reused'
      and o.attempt_id = ${attemptId}
    group by o.run_id
    order by o.run_id
  `.execute(transaction);
  for (const { runId, people } of rows)
    await reuseObservations(transaction, { runId, service, personKeys: people });
  const people = [...new Set(rows.flatMap((row) => row.people))];
  if (people.length > 0) await project(transaction, { service, people, contacts: [] });
}
