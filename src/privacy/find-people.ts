import { sql, type Kysely, type RawBuilder } from 'kysely';
import { unnestRows, unnestContacts, type RowKey, type ContactKey } from '../keys/contact-key.ts';
import type { Tables } from '../db/schema.ts';
import { isOverruledMatch, isOverruled } from '../people/decisions/contact-decisions.ts';
import type { PersonName } from '../people/people-tables.ts';
import { compareNameCells, type NameCells } from '../domain/identity/names/name-agreement.ts';
import { identityKeys } from '../domain/identity/identity-keys.ts';
import { exportOrder, isExport } from '../db/run-states.ts';

interface FoundPerson extends PersonName {
  readonly personId: string | null;
  readonly confirmed: readonly string[];
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * Finds the people in the log with one of these keys, and the people who were accepted for one of these rows, under all
 * keys that the service has given them.
 */
export async function findPeople(
  database: Kysely<Tables>,
  keys: readonly string[],
  rows: readonly RowKey[],
): Promise<FoundPerson[]> {
  // Not `or`, which reads the whole log. `offset 0` keeps PostgreSQL from reading a whole index for a join.
  return readPeople(
    database,
    sql`o.observation_id in (
      select s.observation_id from observation_log s where s.identity_keys && ${keys}::text[]
      union all
      select s.observation_id
      from ${unnestRows(rows)} as r (run_id, row_number)
      cross join lateral (
        select * from contact_matches m where m.run_id = r.run_id and m.row_number = r.row_number offset 0
      ) m
      cross join lateral (
        select * from observation_log o
        where o.service = m.service and o.person_key = m.person_key
        offset 0
      ) s
      where not ${isOverruledMatch})`,
  );
}

/** Reads people from the log. @param theirs condition on an observation `o` */
export async function readPeople(
  database: Kysely<Tables>,
  theirs: RawBuilder<unknown>,
): Promise<FoundPerson[]> {
  const { rows } = await sql<FoundPerson>`
    select distinct o.service, o.person_key as "personKey", o.person_id as "personId", o.identity_keys as confirmed,
      o.facts #>> '{email,email}' as email, o.facts #>> '{first_name,first_name}' as "firstName",
      o.facts #>> '{first_name,last_name}' as "lastName"
    from observation_log o where ${theirs}
  `.execute(database);
  return rows;
}

/** The name of a person as the cells of a row. */
export function nameOf({ firstName, lastName }: FoundPerson): NameCells {
  return { first_name: firstName, last_name: lastName, name: null };
}

export function distinctPeople(found: readonly FoundPerson[]): readonly PersonName[] {
  const people = found.map(({ service, personKey }) => ({ service, personKey }));
  return [...new Map(people.map((each) => [JSON.stringify(each), each])).values()];
}

/** Query of `service` and `person_key`. */
export function peopleOf(people: readonly PersonName[]): RawBuilder<unknown> {
  return sql`
    select * from unnest(${people.map(({ service }) => service)}::text[],
      ${people.map(({ personKey }) => personKey)}::text[])`;
}

/** Identity keys of a person; a shared mailbox only together with the name. */
export function keysOf(person: FoundPerson): string[] {
  return [
    ...person.confirmed,
    ...identityKeys({
      ...(person.email !== null && { email: person.email }),
      ...(person.firstName !== null && { firstName: person.firstName }),
      ...(person.lastName !== null && { lastName: person.lastName }),
    }),
  ];
}

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
        select m.person_key
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
