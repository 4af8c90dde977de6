import { sql, type RawBuilder } from 'kysely';

/** Tables with match keys, by the alias by which conditions name them. */
const tables = { o: 'observations', m: 'contact_matches', r: 'run_rows' } as const;

/**
 * Condition: an observation `o`, a match `m` or a row `r` has one of the match keys. Each key is looked up in the
 * index, and the entries are fetched by their addresses. PostgreSQL expects 0.5 % of all entries for each key, and
 * turned joins into comparisons of every entry with every key: 8.9 s for 93 keys and 1,900 entries in a new warehouse,
 * and no end in five minutes beside 12 million; this took 2 ms. `offset 0` keeps the lookup apart. The shorter
 * `match_keys && keys` read the whole table.
 *
 * @param keys query of one column
 * @param only further condition over the entries, `s`
 */
export function sharesMatchKey(
  alias: keyof typeof tables,
  keys: RawBuilder<unknown>,
  only: RawBuilder<unknown> = sql`true`,
): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${alias}.ctid`)} = any(array(
    select found.ctid
    from (${keys}) as k (key)
    cross join lateral (
      select s.ctid
      from ${sql.table(tables[alias])} s
      where s.match_keys @> array[k.key] and ${only}
      offset 0
    ) found))`;
}

/** A list of match keys as a query. */
export function eachOf(matchKeys: readonly number[]): RawBuilder<unknown> {
  return sql`select unnest(${matchKeys}::integer[])`;
}
