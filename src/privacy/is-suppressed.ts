import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { matchKeysOfIdentityKeys } from '../domain/identity/match-keys.ts';
import { addressesOfHash } from '../people/known/hashed-addresses.ts';
import { identifiesAlone } from '../people/known/identifying-key.ts';
import { recordKeysOf } from '../people/known/record-keys-of.ts';
import { keysInLog, presentDomains } from './keys-in-log.ts';
import { hasSuppressions, listedRows } from './suppressions.ts';

/**
 * Whether a person is suppressed, as `dropSuppressed` decides about rows: the list has one of the person's keys, or a
 * key that an answer stated for a known person with one of these identifiers, also under another id. The domain of this
 * person's present address or employer counts as well.
 */
export async function isSuppressed(
  database: Kysely<Tables>,
  service: string,
  keys: readonly string[],
): Promise<boolean> {
  if (!(await hasSuppressions(database))) return false;
  const given = sql`
    select ${keys}::text[] as keys, ${matchKeysOfIdentityKeys(keys)}::int[] as match_keys`;
  const people = sql`
    select distinct 1 as row_number, o.service, p.person_key
    from (${given}) r
    cross join unnest(r.keys) as own (identity_key)
    cross join lateral (
      select own.identity_key
      union all
      select * from (${addressesOfHash(service, sql`own.identity_key`)}) of_hash
    ) k
    cross join lateral (
      select service, person_key from observations where identity_keys @> array[k.identity_key] offset 0
    ) o
    cross join lateral (${recordKeysOf(sql`o.service`, sql`o.person_key`)}) p
    where o.service = ${service} and ${identifiesAlone(sql`k.identity_key`)}`;
  const { rows } = await sql`
    ${listedRows(sql`
      select 1 as row_number, unnest(r.keys) as identity_key from (${given}) r
      union all
      ${keysInLog(service, people)}
      union all
      ${presentDomains(people)}`)}
  `.execute(database);
  return rows.length > 0;
}
