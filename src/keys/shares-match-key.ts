import { sql, type RawBuilder } from 'kysely';

/** Tables with match keys, by the alias by which conditions name them. */
const tables = { m: 'contact_matches', o: 'observations', r: 'run_rows' } as const;
type Alias = keyof typeof tables;

/**
 * Expression: the places (`ctid`) of a table's entries that have one of the match keys, each once. Each key is looked
 * up in the index, and the entries are fetched by their places. PostgreSQL expects 0.5 % of all entries for each key,
 * and turned joins into comparisons of every entry with every key: 8.9 s for 93 keys and 1,900 entries in a new
 * warehouse, and no end in five minutes beside 12 million; this took 2 ms. `offset 0` keeps the lookup apart. The
 * shorter `match_keys && keys` read the whole table.
 */
function placesByMatchKey(
  alias: Alias,
  keys: RawBuilder<unknown>,
  only: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  return sql`array(
    select distinct found.ctid
    from (${keys}) as k (key)
    cross join lateral (
      select s.ctid
      from ${sql.table(tables[alias])} s
      where s.match_keys @> array[k.key] and ${only}
      offset 0
    ) found)`;
}

/**
 * The entries with one of the match keys, each once, to select from under their alias. They are read one by one: by a
 * plan from an empty warehouse, a condition on their places made PostgreSQL read all entries of the service.
 *
 * @param keys query of one column
 * @param only further condition over the entries, `s`
 */
export function entriesByMatchKey(
  alias: Alias,
  keys: RawBuilder<unknown>,
  only?: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`unnest(${placesByMatchKey(alias, keys, only)}) as at (place)
    cross join lateral (select * from ${sql.table(tables[alias])} where ctid = at.place offset 0) ${sql.ref(alias)}`;
}

/**
 * Condition: an entry has one of the match keys.
 *
 * @param keys query of one column
 */
export function sharesMatchKey(alias: Alias, keys: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${alias}.ctid`)} = any(${placesByMatchKey(alias, keys)})`;
}

/** A list of match keys as a query. */
export function eachOf(matchKeys: readonly number[]): RawBuilder<unknown> {
  return sql`select unnest(${matchKeys}::integer[])`;
}
