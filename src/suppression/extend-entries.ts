import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { formsOfKey } from '../keys/hashed-addresses.ts';
import { identifiesAlone } from '../keys/identifying-key.ts';
import { listedEntries } from './suppression-list.ts';

/**
 * Adds the keys of rows to the entries of the people whom an answer returned for them: the next run would ask for these
 * people again, and pay for an answer that is not written. The entry can be a domain. Removing an entry removes these
 * keys.
 *
 * @param theirs numbers of rows, and for each the number of its person in `keys`
 * @param keys query of `row_number` and `identity_key`
 */
export async function extendEntries(
  transaction: Transaction<Tables>,
  runId: string,
  theirs: readonly { readonly rowNumber: number; readonly person: number }[],
  keys: RawBuilder<unknown>,
): Promise<void> {
  if (theirs.length === 0) return;
  // In their order, so that two answers about one person cannot deadlock.
  await sql`
    insert into suppressed_keys (key_hash, entry_id)
    select distinct sha256(convert_to(form.key, 'UTF8')), listed.entry_id
    from unnest(${theirs.map(({ rowNumber }) => rowNumber)}::int[], ${theirs.map(({ person }) => person)}::int[])
      as t (row_number, person)
    join (${listedEntries(keys)}) listed on listed.row_number = t.person
    join run_rows r on r.run_id = ${runId} and r.row_number = t.row_number
    cross join unnest(r.keys) as own (identity_key)
    cross join unnest(${formsOfKey(sql`own.identity_key`)}::text[]) as form (key)
    where ${identifiesAlone(sql`own.identity_key`)}
    order by 1, 2
    on conflict do nothing
  `.execute(transaction);
}
