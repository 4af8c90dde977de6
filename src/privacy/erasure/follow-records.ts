import { sql, type Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { exportOrder, isExport } from '../../db/valid-entries.ts';
import { compareNameCells, type NameCells } from '../../domain/identity/names/name-agreement.ts';
import type { ContactKey, RowKey } from '../../keys/contact-key.ts';
import { isOverruled, isOverruledMatch } from '../../people/decisions/contact-decisions.ts';
import { unnestContacts } from '../../keys/unnest-keys.ts';
import { type FoundPerson, nameOf, peopleOf } from './find-people.ts';

/** A row of an export, or the cells that the log keeps of the row. */
export interface RowOfRecord extends RowKey, ContactKey, NameCells {
  readonly keys: readonly string[];
}

interface DecidedRow extends RowOfRecord {
  /** The people whom the row has got. */
  readonly personKeys: readonly string[];
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
  // Two rows can agree with an initial between them and contradict each other.
  const contradictsNone = (row: NameCells): boolean => known.every((name) => !contradicts(row, name));
  const followed = theirs.filter(contradictsNone);
  if (followed.length === 0) return [];
  const { rows } = await sql<DecidedRow>`
    select distinct r.run_id as "runId", r.row_number as "rowNumber", runs.source, r.contact_id as "contactId", r.keys,
      r.first_name, r.last_name, r.name,
      array(
        select unnest(coalesce(m.person_keys, array[m.person_key]))
        from contact_matches m
        where m.run_id = r.run_id and m.row_number = r.row_number and starts_with(m.person_key, 'person:')
          and not ${isOverruledMatch}
      ) as "personKeys"
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
  const own = rows.filter((row) => followed.some((one) => isSameRow(one, row)));
  return rows.filter((row) => contradictsNone(row) && own.some((one) => isSameRecord(one, row)));
}

function isSameRow(one: RowKey, other: RowKey): boolean {
  return one.runId === other.runId && one.rowNumber === other.rowNumber;
}

function isSameRecord(one: DecidedRow, other: DecidedRow): boolean {
  return (
    one.source === other.source &&
    one.contactId === other.contactId &&
    compareNameCells(one, other) === 'agree' &&
    !haveOtherIds(one, other)
  );
}

/** Whether the id in a row is neither in the other row nor of its person. The service can give one human two ids. */
function haveOtherIds(one: DecidedRow, other: DecidedRow): boolean {
  const idsOf = ({ keys }: DecidedRow): string[] => keys.filter((key) => key.startsWith('person:'));
  if (idsOf(one).length + idsOf(other).length === 0) return false;
  const [ids, otherIds] = [one, other].map((row) => [...idsOf(row), ...row.personKeys]);
  return ids!.length > 0 && otherIds!.length > 0 && !ids!.some((id) => otherIds!.includes(id));
}

function contradicts(one: NameCells, other: NameCells): boolean {
  return ['other_first_name', 'differ'].includes(compareNameCells(one, other));
}

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
      and not r.is_contested
  `.execute(database);
  return rows;
}
