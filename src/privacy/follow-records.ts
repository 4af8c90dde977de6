import { sql, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { compareNameCells, type NameCells } from '../domain/identity/name-agreement.ts';
import type { ContactKey, RowKey } from '../people/contact-key.ts';
import { isOverruled } from '../people/decisions/contact-decisions.ts';
import { unnestContacts } from '../people/unnest-keys.ts';
import { nameOf, peopleOf, type FoundPerson } from './find-people.ts';

/** A row of an export, or the cells that the log keeps of the row. */
export interface RowOfRecord extends RowKey, ContactKey, NameCells {
  readonly keys: readonly string[];
}

/**
 * Finds the rows of the same CRM records with the same names, as a contact keeps its person if only its name stays.
 * Rows with two ids of a service are two people. A row is not followed if its name contradicts a name of the person:
 * the address in the row may have had another owner. Nor is a row of a record that is not the person by a decision.
 *
 * @param theirs rows of a person
 * @param found the person in answers
 */
export async function followRecords(
  database: Kysely<Tables>,
  theirs: readonly RowOfRecord[],
  found: readonly FoundPerson[],
): Promise<RowKey[]> {
  const known = found.length > 0 ? found.map(nameOf) : theirs;
  const followed = theirs.filter((row) => known.every((name) => !contradicts(row, name)));
  if (followed.length === 0) return [];
  const { rows } = await sql<RowOfRecord>`
    select distinct r.run_id as "runId", r.row_number as "rowNumber", runs.source, r.contact_id as "contactId", r.keys,
      r.first_name, r.last_name, r.name
    from (select distinct * from ${unnestContacts(followed)} as t (source, contact_id)) named
    cross join lateral (
      select run_id, row_number, contact_id, keys, first_name, last_name, name
      from run_rows
      where contact_id = named.contact_id
      union all
      select run_id, row_number, contact_id, keys, first_name, last_name, name
      from contact_records
      where source = named.source and contact_id = named.contact_id
    ) r
    join runs on runs.run_id = r.run_id and runs.source = named.source
    where not exists (
      select from (${peopleOf(found)}) as p (service, person_key) where ${isOverruled({
        source: sql`named.source`,
        contactId: sql`named.contact_id`,
        personKey: sql`p.person_key`,
        evidence: sql`''`,
      })})
  `.execute(database);
  return rows.filter((row) => followed.some((one) => isSameRecord(one, row)));
}

function isSameRecord(one: RowOfRecord, other: RowOfRecord): boolean {
  return (
    one.source === other.source &&
    one.contactId === other.contactId &&
    compareNameCells(one, other) === 'agree' &&
    !haveOtherIds(one.keys, other.keys)
  );
}

function haveOtherIds(one: readonly string[], other: readonly string[]): boolean {
  const [ids, otherIds] = [one, other].map((keys) => keys.filter((key) => key.startsWith('person:')));
  return ids!.length > 0 && otherIds!.length > 0 && !ids!.some((id) => otherIds!.includes(id));
}

function contradicts(one: NameCells, other: NameCells): boolean {
  return ['other_first_name', 'differ'].includes(compareNameCells(one, other));
}
