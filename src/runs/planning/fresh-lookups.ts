import { sql, type RawBuilder } from 'kysely';
import { foundSeconds, type Freshness } from '../../domain/runs/freshness.ts';

/** What a run asks for, and of whom it does not: those who were asked for recently, at the same service. */
export interface Asked {
  readonly freshness: Freshness;
  readonly fieldGroups: readonly string[];
  readonly service: string;
}

/**
 * Joins the lookups `m` that are recent to identity keys `k`: for each group of fields that is asked for, what the same
 * service answered within the group's clock. A person is fresh where every group has one.
 */
export function joinFreshLookups({ freshness, fieldGroups, service }: Asked): RawBuilder<unknown> {
  const found = fieldGroups.map((group) => foundSeconds(freshness, group));
  return sql`
    join unnest(${fieldGroups}::text[], ${found}::float8[]) as clock (field_group, found_seconds) on true
    join lookup_history m on m.identity_key = k.identity_key
      and m.field_group = clock.field_group
      and m.service = ${service}
      and m.asked_at > now() - make_interval(secs =>
        case when m.outcome = 'enriched' then clock.found_seconds else ${freshness.notFoundSeconds}::float8 end)`;
}
