import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { asWord, textsOf } from './person-traces.ts';

/**
 * Removes a person from the paths and URLs of exports, such as a file that is called after the person. A run needs the
 * address only until its rows are staged.
 *
 * @param forms identity keys of the person
 */
export async function eraseFromFileNames(
  transaction: Transaction<Tables>,
  forms: readonly string[],
): Promise<void> {
  // An id of the service is as short as other names of files.
  const patterns = textsOf(forms.filter((form) => !form.startsWith('person:'))).map(asWord);
  if (patterns.length === 0) return;
  // URLs encode the `@` and the `+` of a file name.
  const pattern = patterns
    .join('|')
    .replaceAll('@', '(?:@|%40)')
    .replaceAll(String.raw`\+`, String.raw`(?:\+|%2b)`);
  await sql`
    update runs
    set file_path = regexp_replace(file_path, ${pattern}, 'erased', 'gi'),
      file_name = regexp_replace(file_name, ${pattern}, 'erased', 'gi')
    where (ingested_at is not null or finished_at is not null) and (file_path ~* ${pattern} or file_name ~* ${pattern})
  `.execute(transaction);
  // The next run of a schedule fetches such an export again.
  await sql`delete from fetched_exports where address ~* ${pattern}`.execute(transaction);
}
