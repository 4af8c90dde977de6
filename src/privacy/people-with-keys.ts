import { sql, type RawBuilder } from 'kysely';
import { addressesOfHash } from '../people/known/hashed-addresses.ts';
import { identifiesAlone } from '../people/known/identifying-key.ts';
import { recordKeysOf } from '../people/known/record-keys-of.ts';

/**
 * Query of the known people who share an identifier with a row, also under their other ids: `row_number`, `service` and
 * `person_key`. A hash of an address in the row finds the people with this address.
 *
 * Answers of all services count: a suppressed person is the same person at each of them.
 *
 * @param rows query of `row_number`, `keys` and `match_keys` as in `run_rows`
 */
export function peopleWithKeysOf(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct r.row_number, o.service, p.person_key
    from (${rows}) r
    cross join unnest(r.keys) as own (identity_key)
    cross join lateral (
      select own.identity_key
      union all
      select * from (${addressesOfHash(undefined, sql`own.identity_key`)}) of_hash
    ) k
    cross join lateral (
      select service, person_key from observations where identity_keys @> array[k.identity_key] offset 0
    ) o
    cross join lateral (${recordKeysOf(sql`o.service`, sql`o.person_key`)}) p
    where ${identifiesAlone(sql`k.identity_key`)}`;
}
