import { sql, type RawBuilder, type Transaction } from 'kysely';
import { fieldGroups, type ContactFields } from '../domain/identity/field-groups.ts';
import type { Tables } from '../db/schema.ts';

const columns = fieldGroups.flat();

/**
 * Each column takes the answer's value where the answer says anything of its group, and keeps its own otherwise: but only of
 * the same person. Where a record of the CRM has become somebody else, nothing of the former one stays. Two missing ids are
 * not the same person.
 */
const assignments: RawBuilder<unknown>[] = [
  ...fieldGroups.flatMap((group) =>
    group.map(
      (column) =>
        sql`${sql.ref(column)} = case when excluded.${sql.ref(group[0])} is null and c.person_id = excluded.person_id
          then c.${sql.ref(column)} else excluded.${sql.ref(column)} end`,
    ),
  ),
  sql`phone = case when c.person_id = excluded.person_id then c.phone end`,
];

/**
 * Writes answers into `enriched_contacts`, under the contact's own key `(source, contact_id)`. An answer that is older than
 * what is there changes nothing, and neither does one that comes when its run is undone. What a contact was before is kept by
 * triggers (`contact_journal`).
 *
 * @param write.contacts at most one for a row
 */
export async function upsertContacts(
  transaction: Transaction<Tables>,
  write: {
    readonly source: string;
    readonly runId: string;
    readonly attemptId: string;
    /** When it was asked for, by the database's clock. */
    readonly asOf: string;
    readonly contacts: readonly { readonly rowNumber: number; readonly fields: ContactFields }[];
  },
): Promise<void> {
  if (write.contacts.length === 0) return;
  const rows = write.contacts.map((contact) => ({ row_number: contact.rowNumber, ...contact.fields }));
  // Two rows can bear one contact id: the first of them is written, since one statement cannot touch a row twice. Keys in
  // order, so that two writers of the same contacts wait for one another only one way round.
  await sql`
    insert into enriched_contacts as c (source, contact_id, ${sql.join(columns.map((column) => sql.ref(column)))},
      enriched_at, run_id, attempt_id, row_number)
    select distinct on (r.contact_id) ${write.source}, r.contact_id, ${sql.join(columns.map((column) => sql.ref(`a.${column}`)))},
      ${write.asOf}::timestamptz, ${write.runId}, ${write.attemptId}, r.row_number
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as a (row_number int, ${sql.join(columns.map(typed))})
    join run_rows r on r.run_id = ${write.runId} and r.row_number = a.row_number
    join runs on runs.run_id = r.run_id and runs.undone_at is null
    order by r.contact_id, r.row_number
    on conflict (source, contact_id) do update set ${sql.join(assignments)},
      enriched_at = excluded.enriched_at, run_id = excluded.run_id, attempt_id = excluded.attempt_id, row_number = excluded.row_number
    where c.enriched_at <= excluded.enriched_at
  `.execute(transaction);
}

function typed(column: (typeof columns)[number]): RawBuilder<unknown> {
  const type = column === 'departments' ? 'text[]' : column === 'organization_employees' ? 'int' : 'text';
  return sql`${sql.ref(column)} ${sql.raw(type)}`;
}
