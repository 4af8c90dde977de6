import { sql, type RawBuilder } from 'kysely';
import { foundSeconds, type Freshness } from '../../domain/runs/freshness.ts';

/** What a run asks for, at which service, and how long earlier lookups count as fresh. */
export interface Asked {
  readonly freshness: Freshness;
  readonly fieldGroups: readonly string[];
  readonly service: string;
}

/**
 * SQL of identity keys with their recent lookups `m`, of the runs `a`: per requested group of fields, the service's
 * answers within the freshness of the group. A person is fresh if every group has a lookup.
 *
 * @param keys a relation with `identity_key`; `m` has all of its columns
 * @param amount `few`: looks each key up in the index. PostgreSQL would read the whole history for 300 keys. `many`:
 *   PostgreSQL chooses
 */
export function freshLookups(
  { freshness, fieldGroups, service }: Asked,
  keys: RawBuilder<unknown>,
  amount: 'few' | 'many',
): RawBuilder<unknown> {
  const found = fieldGroups.map((group) => foundSeconds(freshness, group));
  // PostgreSQL turns no subquery with an offset into a join. Without the second offset it read all runs for each key.
  const apart = amount === 'few' ? sql`offset 0` : sql``;
  return sql`
    (
      select k.*, h.field_group, h.asked_at, h.lookup_run
      from ${keys} k
      join unnest(${fieldGroups}::text[], ${found}::float8[]) as clock (field_group, found_seconds) on true
      join lateral (
        select * from lookup_history l
        where l.key_hash = key_hash(k.identity_key) and l.field_group = clock.field_group
        ${apart}
      ) h on h.asked_at > now() - make_interval(secs =>
        case when h.found then clock.found_seconds else ${freshness.notFoundSeconds}::float8 end)
      ${apart}
    ) m
    join lookup_runs a on a.lookup_run = m.lookup_run and a.service = ${service}`;
}
