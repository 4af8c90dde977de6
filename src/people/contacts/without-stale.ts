import { sql, type Kysely } from 'kysely';
import { exportOrder, isExport } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import type { ContactKey } from '../../keys/contact-key.ts';

interface RowOfContact extends ContactKey {
  readonly runId: string;
}

/** Leaves out rows whose contact a newer export has: they say nothing about the contact. */
export async function withoutStale<Row extends RowOfContact>(
  database: Kysely<Tables>,
  contacts: readonly Row[],
): Promise<Row[]> {
  if (contacts.length === 0) return [];
  const contactIds = contacts.map(({ contactId }) => contactId);
  const { rows } = await sql<{ place: string }>`
    with newer_runs as materialized (
      select runs.run_id, newer.run_id as newer_id
      from runs
      join runs newer on newer.source = runs.source
        and ${sql.raw(exportOrder('newer'))} > ${sql.raw(exportOrder('runs'))}
        and ${sql.raw(isExport('newer'))}
      where runs.run_id = any(${[...new Set(contacts.map(({ runId }) => runId))]}::text[])
    ), found as materialized (
      select n.run_id, n.contact_id
      from run_rows n
      where n.contact_id = any(${contactIds}::text[]) and n.run_id in (select newer_id from newer_runs)
      union all
      -- Retention has removed the row.
      select k.run_id, k.contact_id
      from contact_records k
      where k.source = any(${[...new Set(contacts.map(({ source }) => source))]}::text[])
        and k.contact_id = any(${contactIds}::text[])
        and k.run_id in (select newer_id from newer_runs)
    )
    select distinct f.place
    from unnest(${contacts.map(({ runId }) => runId)}::text[], ${contactIds}::text[])
      with ordinality as f (run_id, contact_id, place)
    join newer_runs on newer_runs.run_id = f.run_id
    join found on found.run_id = newer_runs.newer_id and found.contact_id = f.contact_id
  `.execute(database);
  const stale = new Set(rows.map(({ place }) => Number(place) - 1));
  return contacts.filter((_, index) => !stale.has(index));
}
