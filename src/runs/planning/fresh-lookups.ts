import { sql, type RawBuilder } from 'kysely';
import { foundSeconds, type Freshness } from '../../domain/runs/freshness.ts';

/** What a run asks for, at which service, and how long earlier lookups count as fresh. */
export interface Asked {
  readonly freshness: Freshness;
  readonly fieldGroups: readonly string[];
  readonly service: string;
}

/**
 * SQL that joins recent lookups `m`, of the runs `a`, to identity keys `k`: per requested group of fields, the
 * service's answers within the freshness of the group. A person is fresh if every group has a lookup.
 */
export function joinFreshLookups({ freshness, fieldGroups, service }: Asked): RawBuilder<unknown> {
  const found = fieldGroups.map((group) => foundSeconds(freshness, group));
  return sql`
    join unnest(${fieldGroups}::text[], ${found}::float8[]) as clock (field_group, found_seconds) on true
    join lookup_history m on m.key_hash = key_hash(k.identity_key)
      and m.field_group = clock.field_group
      and m.asked_at > now() - make_interval(secs =>
        case when m.found then clock.found_seconds else ${freshness.notFoundSeconds}::float8 end)
    join lookup_runs a on a.lookup_run = m.lookup_run and a.service = ${service}`;
}
