import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { matchKeysOfIdentityKeys } from '../domain/identity/match-keys.ts';
import { keysInLog, presentDomains } from './keys-in-log.ts';
import { peopleWithKeysOf } from './people-with-keys.ts';
import { hasSuppressions, listedRows } from './suppressions.ts';

/**
 * Whether a person is suppressed, as `dropSuppressed` decides about rows: the list has one of the person's keys, or a
 * key that an answer of any service stated for a known person with one of these identifiers, also under another id. The
 * domain of this person's present address or employer counts as well.
 */
export async function isSuppressed(database: Kysely<Tables>, keys: readonly string[]): Promise<boolean> {
  if (!(await hasSuppressions(database))) return false;
  const person = sql`
    select 1 as row_number, ${keys}::text[] as keys, ${matchKeysOfIdentityKeys(keys)}::int[] as match_keys`;
  const people = peopleWithKeysOf(person);
  const { rows } = await sql`
    ${listedRows(sql`
      select r.row_number, unnest(r.keys) as identity_key from (${person}) r
      union all
      ${keysInLog(sql`p.service`, people)}
      union all
      ${presentDomains(people)}`)}
  `.execute(database);
  return rows.length > 0;
}
