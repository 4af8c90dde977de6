import { sql, type RawBuilder } from 'kysely';
import { matchKeysOfIdentityKeys } from '../domain/identity/match-keys.ts';
import { keysInLog } from './keys-in-log.ts';
import { peopleWithKeysOf } from './people-with-keys.ts';

/** A person to compare with the list, under a number. A person can have several of these. */
export interface PersonKeys {
  readonly number: number;
  readonly keys: readonly string[];
}

/** Query of `row_number`, `keys` and `match_keys`, as in `run_rows`. */
export function rowsOfPeople(people: readonly PersonKeys[]): RawBuilder<unknown> {
  const rows = people.map(({ number, keys }) => {
    // Each once: a match key is found by the position of its key.
    const unique = [...new Set(keys)];
    return {
      row_number: number,
      // jsonb refuses half of a character.
      keys: unique.map((key) => key.toWellFormed()),
      match_keys: matchKeysOfIdentityKeys(unique),
    };
  });
  return sql`
    select *
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (row_number int, keys text[], match_keys int[])`;
}

/**
 * Query of `row_number` and `identity_key`: the keys of people, and the keys that answers of any service stated for
 * known people with one of their identifiers.
 */
export function keysOfPeople(people: readonly PersonKeys[]): RawBuilder<unknown> {
  const rows = rowsOfPeople(people);
  return sql`
    select p.row_number, unnest(p.keys) as identity_key from (${rows}) p
    union all
    ${keysInLog(sql<string>`p.service`, peopleWithKeysOf(rows))}`;
}
