import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { foundSeconds, type Freshness } from '../../domain/runs/freshness.ts';

/** What a run asks for, at which service, and how long earlier lookups count as fresh. */
export interface Asked {
  readonly freshness: Freshness;
  readonly fieldGroups: readonly string[];
  readonly service: string;
}

/** Whether keys are few or many beside the history. */
export type KeysAmount = 'few' | 'many';

/** Looking an entry of the history up takes as long as reading a dozen entries in their order. */
const entriesPerLookup = 12;

/**
 * Returns whether the keys of a table are few or many; without statistics about the table, few. PostgreSQL chooses
 * badly: for 300,000 keys and 30 million entries it read all entries, in 18 s instead of 2 s.
 */
export async function amountOfKeys(database: Kysely<Tables>, table: string): Promise<KeysAmount> {
  const { rows } = await sql<{ amount: KeysAmount }>`
    select case when k.reltuples * ${entriesPerLookup} > h.reltuples then 'many' else 'few' end as amount
    from pg_class k, pg_class h
    where k.oid = ${table}::regclass and h.oid = 'lookup_history'::regclass
  `.execute(database);
  return rows[0]!.amount;
}

/**
 * SQL of identity keys with their earlier lookups `m` at the service, by the runs `a`: for each requested group of
 * fields, whether the person was `found`, and whether the lookup `is_fresh`. A person is fresh if every group has a
 * fresh lookup.
 *
 * @param keys a relation with `identity_key`; `m` has all of its columns
 * @param amount `few`: looks each key up in the index. PostgreSQL would read the whole history for 300 keys. `many`:
 *   PostgreSQL chooses
 */
export function earlierLookups(
  { freshness, fieldGroups, service }: Asked,
  keys: RawBuilder<unknown>,
  amount: KeysAmount,
): RawBuilder<unknown> {
  const found = fieldGroups.map((group) => foundSeconds(freshness, group));
  // PostgreSQL turns no subquery with an offset into a join. Without the second offset it read all runs for each key.
  const apart = amount === 'few' ? sql`offset 0` : sql``;
  return sql`
    (
      select k.*, h.field_group, h.found, h.asked_at, h.lookup_run,
        h.asked_at > now() - make_interval(secs =>
          case when h.found then clock.found_seconds else ${freshness.notFoundSeconds}::float8 end) as is_fresh
      from ${keys} k
      join unnest(${fieldGroups}::text[], ${found}::float8[]) as clock (field_group, found_seconds) on true
      join lateral (
        select * from lookup_history l
        where l.key_hash = key_hash(k.identity_key, ${service}) and l.field_group = clock.field_group
        ${apart}
      ) h on true
      ${apart}
    ) m
    join lookup_runs a on a.lookup_run = m.lookup_run`;
}
