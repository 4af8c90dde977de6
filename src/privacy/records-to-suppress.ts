import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { exportOrder, isExport } from '../db/run-states.ts';
import { compareNameCells, type NameCells } from '../domain/identity/names/name-agreement.ts';
import { unnestContacts, unnestRows } from '../keys/contact-key.ts';
import type { PersonTraces } from './person-traces.ts';
import { keyOfRecordId, namedRecordKey, recordKey } from '../suppression/compared-keys.ts';

interface RecordOfPerson extends NameCells {
  readonly recordKey: string | null;
  readonly namedRecordKey: string | null;
  readonly counts: boolean;
  /** The names of other rows of the record in its newest export. */
  readonly others: readonly NameCells[];
}

/**
 * Reads the keys of a person's CRM records, because the next export may have another address for the person. If the
 * newest export of a record names somebody else, the key includes the person's name.
 */
export async function recordsToSuppress(
  transaction: Transaction<Tables>,
  { rows, contacts }: Pick<PersonTraces, 'rows' | 'contacts'>,
): Promise<string[]> {
  const { rows: found } = await sql<RecordOfPerson>`
    with theirs as materialized (
      select * from ${unnestRows(rows)} as t (run_id, row_number)
    )
    select ${recordKey} as "recordKey", ${namedRecordKey} as "namedRecordKey", r.first_name, r.last_name, r.name,
      (${sql.raw(isExport('runs'))}) is true as counts, coalesce(newest.others, '[]') as others
    from (
      select run_id, row_number, contact_id, first_name, last_name, name
      from run_rows
      join theirs using (run_id, row_number)
      union
      select run_id, row_number, contact_id, first_name, last_name, name
      from contact_records
      join theirs using (run_id, row_number)
    ) r
    join runs on runs.run_id = r.run_id
    left join lateral (
      select jsonb_agg(to_jsonb(dated)) filter (where is_other) as others
      from (
        select n.first_name, n.last_name, n.name, rank() over (order by ${sql.raw(exportOrder('u'))} desc) as age,
          coalesce(n.key, n.first_name, n.last_name, n.name) is not null
            and (n.run_id, n.row_number) not in (select * from theirs) as is_other
        from (
          select run_id, row_number, first_name, last_name, name, keys[1] as key
          from run_rows
          where contact_id = r.contact_id
          union all
          select run_id, row_number, first_name, last_name, name, keys[1]
          from contact_records
          where source = runs.source and contact_id = r.contact_id
        ) n
        join runs u on u.run_id = n.run_id and u.source = runs.source and ${sql.raw(isExport('u'))}
      ) dated
      where age = 1
    ) newest on true
  `.execute(transaction);
  const ofRows = found.map((record) => (isTheirs(record) ? record.recordKey : record.namedRecordKey));
  const { rows: ofContacts } = await sql<{ recordKey: string | null }>`
    select ${keyOfRecordId(sql`source`, sql`contact_id`)} as "recordKey"
    from ${unnestContacts(contacts)} as theirs (source, contact_id)
    where source <> 'generic'
  `.execute(transaction);
  return [...new Set([...ofRows, ...ofContacts.map((contact) => contact.recordKey)])].flatMap(
    (key) => key ?? [],
  );
}

/**
 * Whether a record is the person's. A row without a name contradicts no person, unless only a run that does not count
 * took the record for the person.
 */
function isTheirs({ others, counts, ...person }: RecordOfPerson): boolean {
  return others.every((other) => {
    const verdict = compareNameCells(person, other);
    return verdict === 'agree' || verdict === 'partly' || (verdict === 'unknown' && counts);
  });
}
