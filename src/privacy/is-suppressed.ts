import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { presentDomains } from './keys-in-log.ts';
import { keysOfPeople, rowsOfPeople } from './keys-of-people.ts';
import { peopleWithKeysOf } from './people-with-keys.ts';
import { hasSuppressions, listedRows } from './suppressions.ts';

/**
 * Whether a person is suppressed, as `dropSuppressed` decides about rows: the list has one of the person's keys, or a
 * key that an answer of any service stated for a known person with one of these identifiers, also under another id. The
 * domain of this person's present address or employer counts as well.
 */
export async function isSuppressed(database: Kysely<Tables>, keys: readonly string[]): Promise<boolean> {
  if (!(await hasSuppressions(database))) return false;
  const person = [{ number: 1, keys }];
  const { rows } = await sql`
    ${listedRows(sql`
      ${keysOfPeople(person)}
      union all
      ${presentDomains(peopleWithKeysOf(rowsOfPeople(person)))}`)}
  `.execute(database);
  return rows.length > 0;
}
