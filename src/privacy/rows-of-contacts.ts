import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { exportOrder, isExport } from '../db/valid-entries.ts';
import type { ContactKey, RowKey } from '../people/contact-key.ts';
import { unnestContacts } from '../people/unnest-keys.ts';
import { isContestedRecord } from '../people/contacts/contact-states.ts';

/**
 * Finds the rows by which contacts have kept their person: those of the run that gave the person, and of newer exports.
 * A row that names somebody else would have taken the person away. These rows need not share a key with the person: a
 * contact keeps its person if only its name stays.
 *
 * @param contacts contacts that have a person
 */
export async function findRowsOfContacts(
  database: Kysely<Tables>,
  contacts: readonly ContactKey[],
): Promise<RowKey[]> {
  const { rows } = await sql<RowKey>`
    select r.run_id as "runId", r.row_number as "rowNumber"
    from ${unnestContacts(contacts)} as named (source, contact_id)
    join contacts c using (source, contact_id)
    join runs given on given.run_id = c.run_id
    cross join lateral (select * from run_rows where contact_id = c.contact_id offset 0) r
    join runs on runs.run_id = r.run_id
    where runs.source = c.source
      and ${sql.raw(exportOrder('runs'))} >= ${sql.raw(exportOrder('given'))}
      and ${sql.raw(isExport('runs'))}
      and not ${isContestedRecord('r')}
  `.execute(database);
  return rows;
}
