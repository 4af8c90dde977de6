import { sql, type Kysely } from 'kysely';
import { UsageProblem } from '../../domain/problem.ts';
import { identityCells } from '../../db/expressions.ts';
import { isExport } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import {
  newestRecord,
  readMatchedContacts,
  readStates,
  newestRow,
  type ContactState,
} from '../contacts/contact-states.ts';

export interface ReviewedContact {
  /** Service of the run of the newest export that has the contact. */
  readonly service: string;
  readonly state: ContactState;
  /** The unfinished run of that export, which decides about the contact at its end. */
  readonly openRun: string | undefined;
}

interface NewestRow {
  readonly service: string;
  readonly run_id: string;
  readonly row_number: number;
  readonly has_ended: boolean;
  readonly has_cells: boolean;
}

/**
 * Reads a contact as the newest export has it. If retention has removed the cells of the row, the log still has those
 * of contacts that have or had a person.
 *
 * @throws Problem `contact.unknown`; `contact.unidentified` for a record without any identity
 */
export async function readReviewedContact(
  database: Kysely<Tables>,
  { source, contactId }: ContactKey,
): Promise<ReviewedContact> {
  const { rows } = await sql<NewestRow>`
    select runs.options ->> 'service' as service, n.run_id, n.row_number, runs.finished_at is not null as has_ended,
      n.keys <> '{}' or n.outcome = 'suppressed' as has_cells
    from (${newestRow(sql`${source}`, sql`${contactId}`, sql.raw(isExport('runs')))}) n
    join runs using (run_id)
  `.execute(database);
  const [row] = rows;
  const service = row?.service ?? (await serviceOfContact(database, { source, contactId }));
  if (service === undefined)
    throw new UsageProblem('contact.unknown', 'the warehouse does not know this record', {
      where: `${source} ${contactId}`,
      next: 'check the source and the id; if RETENTION has removed its row, enrich an export that has the record',
    });
  const key = sql`select ${source}::text as source, ${contactId}::text as contact_id`;
  let [state] = row?.has_cells
    ? await readStates(
        database,
        service,
        sql`
          select runs.source, r.contact_id, r.run_id, r.row_number, r.keys, ${identityCells('r')}, true as is_new_row
          from run_rows r
          join runs on runs.run_id = r.run_id
          where r.run_id = ${row.run_id} and r.row_number = ${row.row_number}`,
      )
    : await readMatchedContacts(database, service, key);
  // A decision took the person. The cells count unless the newest row, whose cells are removed, had others.
  if (state === undefined)
    [state] = await readStates(
      database,
      service,
      sql`
        select k.source, k.contact_id, k.run_id, k.row_number, k.keys, ${identityCells('k')}, true as is_new_row
        from (${key}) c
        cross join lateral (${newestRecord}) k
        where k.run_id = coalesce(${row?.run_id ?? null}, k.run_id)`,
    );
  if (state === undefined)
    throw new UsageProblem('contact.unidentified', 'the warehouse has no cells that identify this record', {
      where: `${source} ${contactId}`,
      next: 'enrich an export in which the record has an address, a profile, an id, or a name and an employer',
    });
  return { service, state, openRun: row && !row.has_ended ? row.run_id : undefined };
}

async function serviceOfContact(
  database: Kysely<Tables>,
  { source, contactId }: ContactKey,
): Promise<string | undefined> {
  const { rows } = await sql<{ service: string | null }>`
    select coalesce(
      (select service from contacts where source = ${source} and contact_id = ${contactId}),
      (
        select runs.options ->> 'service'
        from (select ${source}::text as source, ${contactId}::text as contact_id) c
        cross join lateral (${newestRecord}) k
        join runs using (run_id)
      )
    ) as service
  `.execute(database);
  return rows[0]?.service ?? undefined;
}

/** The id of the person whom a contact has; null: it has none. */
export async function readPersonId(
  database: Kysely<Tables>,
  { source, contactId }: ContactKey,
): Promise<string | null> {
  const { rows } = await sql<{ person_id: string | null }>`
    select person_id from enriched_contacts where source = ${source} and contact_id = ${contactId}
  `.execute(database);
  return rows[0]?.person_id ?? null;
}
