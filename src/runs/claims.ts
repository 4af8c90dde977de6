import { sql, type RawBuilder, type Transaction, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { withEarlierNote } from '../db/run-states.ts';
import { samePersonPrefix } from '../domain/runs/outcome.ts';
import { isIdentifyingKey } from '../keys/key-lookups.ts';
import type { StatusReason } from '../contract/pause-reasons.ts';
import { formatCount, formatPeopleCount, nounFor } from '../domain/text/format.ts';

/** SQL condition: the call of a claimed row has the outcome `unknown`, so the operator decides about it. */
const isCallUnknown = sql<boolean>`claimed.outcome is not distinct from 'unknown'`;

/**
 * SQL query of rows with a person that another run has claimed at a service, by the first of several runs. After its
 * run has ended, a claim remains only if the call is unknown.
 *
 * @param keys a relation of `identity_key` and `row_number`
 */
export function claimsOfOtherRuns(
  { runId, service }: { readonly runId: string; readonly service: string },
  keys: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select distinct on (k.row_number) k.row_number, c.run_id as claimed_by_run_id,
      c.row_number as claimed_by_row_number,
      case when ${isCallUnknown}
        then 'a call of run ' || c.run_id || ' for this person is unknown: enrich attempts list ' || c.run_id
        else 'being asked for by run ' || c.run_id end as reason
    from ${keys} k
    join claims c on c.identity_key = k.identity_key and c.service = ${service} and c.run_id <> ${runId}
    left join run_rows claimed on claimed.run_id = c.run_id and claimed.row_number = c.row_number
    order by k.row_number, c.run_id, c.row_number`;
}

/**
 * Claims people, so that no other run calls the service for them, by the keys of their rows and by their known id. Rows
 * of people that another run has claimed become `in_flight`. Rows of one person may have different keys: the first row
 * represents the person, and the others become `duplicate`.
 *
 * @param keys a relation of `identity_key` and `row_number`
 */
export async function claimKnownPeople(
  transaction: Transaction<Tables>,
  { runId, service }: { readonly runId: string; readonly service: string },
  keys: RawBuilder<unknown>,
): Promise<void> {
  const claimed = sql`claimed_keys`;
  // A row with keys of two people claims neither. `offset 0` makes PostgreSQL use the index on the keys: without
  // statistics it read all 300,000 observations of a test for each key, which took minutes.
  await sql`
    create temporary table ${claimed} on commit drop as
    select identity_key, row_number from ${keys} k
    union
    select min(person), row_number
    from (
      select k.row_number, coalesce(known.identity_key, substring(k.identity_key from '^person:.*')) as person
      from ${keys} k
      left join lateral (
        select id.identity_key
        from observation_log o
        cross join unnest(o.identity_keys) as id (identity_key)
        where o.service = ${service}
          and o.identity_keys @> array[k.identity_key]
          and starts_with(id.identity_key, 'person:')
          and o.kind = 'answer'
        offset 0
      ) known on true
      where ${isIdentifyingKey(sql`k.identity_key`)}
    ) named
    group by row_number
    having count(distinct person) = 1
  `.execute(transaction);
  // Claims are inserted in the order of keys, so that two runs with the same people cannot deadlock.
  await sql`
    insert into claims (identity_key, service, run_id, row_number)
    select k.identity_key, ${service}, ${runId}, min(k.row_number)
    from ${claimed} k join run_rows r on r.run_id = ${runId} and r.row_number = k.row_number and r.outcome is null
    group by k.identity_key order by k.identity_key
    on conflict (identity_key, service) do nothing
  `.execute(transaction);
  await sql`
    with taken as (${claimsOfOtherRuns({ runId, service }, claimed)}), dropped as (
      update run_rows r set outcome = 'in_flight', reason = ${withEarlierNote(sql`t.reason`)},
        claimed_by_run_id = t.claimed_by_run_id, claimed_by_row_number = t.claimed_by_row_number
      from taken t where r.run_id = ${runId} and r.row_number = t.row_number and r.outcome is null
      returning r.row_number
    )
    delete from claims c using dropped d where c.run_id = ${runId} and c.row_number = d.row_number
  `.execute(transaction);
  // An earlier page may hold the claim for a row with an unknown call. `offset 0` makes PostgreSQL use the index on
  // keys. The run is compared outside of the subquery, because by the index on runs PostgreSQL read all claims of the
  // run for each key (1 s per page).
  await sql`
    with known_people as materialized (
      select identity_key, row_number from ${claimed} where starts_with(identity_key, 'person:')
    ), represented as (
      select k.row_number, c.row_number as first_row
      from known_people k
      cross join lateral (
        select row_number, run_id from claims
        where identity_key = k.identity_key and service = ${service}
        offset 0
      ) c
      join run_rows r on r.run_id = ${runId} and r.row_number = k.row_number and r.outcome is null
      where c.run_id = ${runId}
    ), dropped as (
      update run_rows r set outcome = 'duplicate', reason = ${withEarlierNote(sql`${samePersonPrefix} || first_row`)}
      from represented p
      where r.run_id = ${runId} and r.row_number = p.row_number and p.row_number <> first_row
      returning r.row_number
    )
    delete from claims c using dropped d where c.run_id = ${runId} and c.row_number = d.row_number
  `.execute(transaction);
}

/** A paused run that claims people of another run, with the number of affected rows. */
interface PausedRun {
  readonly runId: string;
  readonly people: number;
}

/** Finds the paused runs that keep people of a run `in_flight`, the run with the most people first. */
export async function readPausedRuns(database: Kysely<Tables>, runId: string): Promise<readonly PausedRun[]> {
  const { rows } = await sql<PausedRun>`
    select paused.run_id as "runId", count(*)::int as people
    from run_rows r
    join runs paused on paused.run_id = r.claimed_by_run_id and paused.status = 'paused'
    left join run_rows claimed on claimed.run_id = r.claimed_by_run_id
      and claimed.row_number = r.claimed_by_row_number
    where r.run_id = ${runId} and r.outcome = 'in_flight' and not ${isCallUnknown}
    group by paused.run_id
    order by people desc, paused.run_id
  `.execute(database);
  return rows;
}

/** What the operator can do about people that paused runs have claimed; undefined if there are none. */
export function describePausedRuns(runs: readonly PausedRun[]): StatusReason | undefined {
  const [first] = runs;
  if (first === undefined) return undefined;
  const people = runs.reduce((sum, each) => sum + each.people, 0);
  return {
    type: 'people.in-paused-run',
    reason:
      `${formatPeopleCount(people)} ${nounFor(people, 'waits', 'wait')} in ` +
      `${runs.length === 1 ? 'a paused run' : formatCount(runs.length, 'paused run')}, ` +
      'and no other run asks for them: ' +
      runs.map(({ runId }) => runId).join(', '),
    next:
      `enrich resume ${first.runId} continues with the options of that run; or enrich cancel ${first.runId} ends it, ` +
      'then repeat the command',
  };
}
