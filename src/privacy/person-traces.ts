import { sql, type Kysely, type RawBuilder } from 'kysely';
import { isRoleAddress, emailHashes } from '../domain/identity/values/email-address.ts';
import { identityKeys } from '../domain/identity/identity-keys.ts';
import { identityColumns, identityOfColumns, type IdentityColumns } from '../domain/identity/identity.ts';
import { ownerKey } from '../domain/identity/match-keys.ts';
import { compareNameCells, type NameCells } from '../domain/identity/names/name-agreement.ts';
import { identityCells } from '../db/expressions.ts';
import type { Tables } from '../db/schema.ts';
import type { Warehouse } from '../db/database.ts';
import { contactKey, unnestContacts, unnestRows, type ContactKey, type RowKey } from '../keys/contact-key.ts';
import { hashKeysOf, sharesKey } from '../keys/key-lookups.ts';
import { isOverruled, isOverruledMatch, recordHash } from '../people/decisions/contact-decisions.ts';
import { isOfPeople, nameOfPerson, type PersonName } from '../people/people-tables.ts';
import { recordKeysOf } from '../suppression/compared-keys.ts';

export type PersonTraces = Awaited<ReturnType<typeof tracesOf>>;

/** A search that finds new keys after this many rounds has left the one person. */
const mostRounds = 20;

/**
 * Finds a person under every key that the warehouse has. Rows and contacts that share a key are one person, as in a
 * plan; their other keys are searched in the next round. So are rows that were accepted as the person, also in undone
 * runs: weak evidence shares no key with the person. So are rows of the same CRM record with the same name.
 *
 * @param known identity keys to begin with
 */
export async function findPerson(database: Kysely<Tables>, known: readonly string[]): Promise<PersonTraces> {
  const keys = new Set(known);
  const hashes = new Set<string>();
  let people: readonly FoundPerson[] = [];
  let ofRecords: readonly RowOfRecord[] = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const before = keys.size + people.length + ofRecords.length;
    const learn = (learned: readonly string[]): void => {
      for (const key of learned) if (!isShared(key)) keys.add(key);
    };
    learn(await addressesOf(database, [...keys], hashes));
    const rows = await findRows(database, [...keys].flatMap(formsOf), people, ofRecords);
    for (const row of rows) {
      learn(row.keys);
      if (row.personId !== null) learn([`person:${row.personId}`]);
    }
    people = await findPeople(database, [...keys], rows);
    for (const person of people) learn(keysOf(person));
    const contacts = await findContacts(database, people);
    const names = people.length > 0 ? people.map(nameOf) : rows;
    const { followed, others } = await followRecords(database, { rows, contacts, names });
    ofRecords = followed;
    if (keys.size + people.length + ofRecords.length === before)
      return tracesOf(database, [...keys], { people, contacts, rows, names, others });
  }
  throw new Error(`more than ${mostRounds} rounds of names: these are not of one person`);
}

/** Everywhere that the warehouse holds data about one person. */
async function tracesOf(
  database: Kysely<Tables>,
  keys: readonly string[],
  found: {
    readonly people: readonly FoundPerson[];
    readonly contacts: readonly ContactKey[];
    readonly rows: readonly FoundRow[];
    readonly names: readonly NameCells[];
    readonly others: readonly ContactKey[];
  },
) {
  const { rows, contacts, names, others } = found;
  const forms = keys.flatMap(formsOf);
  const personIds = idsIn(keys);
  const records = [...new Map([...rows, ...contacts].map((each) => [contactKey(each), each])).values()];
  const all = [...found.people, ...(await findPeopleWithoutIds(database, records))];
  const people = [...new Map(all.map((each) => [nameOfPerson(each), each])).values()];
  const ofOthers = new Set(others.map(contactKey));
  const identities = rows.map((row) => ({ row, identity: identityOfColumns(row) }));
  return {
    /** Identity keys of this person alone, without addresses that the person shares with colleagues. */
    keys,
    /** The same keys and the hashes of the addresses. */
    forms,
    personIds,
    /** Keys in the log. */
    people,
    names: [...names, ...rows],
    /** Contacts that belong to the person now. */
    contacts,
    rows: [...rows, ...(await findRowsWithoutKeys(database, forms, records))].map(({ runId, rowNumber }) => ({
      runId,
      rowNumber,
    })),
    /** The CRM records of the rows and contacts. */
    records,
    /** Hashes of what identifies the person in these records. */
    recordHashes: identities.map(({ identity }) => recordHash(identity)),
    /** For the suppression list: the next export may have another address for the person in a record. */
    recordKeys: [
      ...identities.flatMap(({ row, identity }) => {
        const { id, named } = recordKeysOf(row, identity);
        return id.length > 0 && !ofOthers.has(contactKey(row)) ? id : named;
      }),
      ...contacts.flatMap((contact) =>
        ofOthers.has(contactKey(contact)) ? [] : recordKeysOf(contact, {}).id,
      ),
    ],
    /** Attempts that asked for the person or whose answer contains the person. */
    attemptIds: await findAttempts(database, { keys, personIds, people, rows }),
  };
}

function isShared(key: string): boolean {
  return key.startsWith('email:') && !key.includes('|') && isRoleAddress(key.slice('email:'.length));
}

/** Returns a key in every form that exports use: an address also as its hashes. */
function formsOf(key: string): string[] {
  if (!key.startsWith('email:') || key.includes('|')) return [key];
  const email = key.slice('email:'.length);
  return [key, ...emailHashes(email).map((hash) => `hash:${hash}`)];
}

/**
 * Finds the addresses of hashes. It hashes every known address, so it runs only for hashes that belong to none of the
 * person's addresses: if an erasure begins with a hash.
 *
 * @param looked hashes of earlier searches; this search adds its own
 */
async function addressesOf(
  database: Kysely<Tables>,
  keys: readonly string[],
  looked: Set<string>,
): Promise<string[]> {
  const explained = new Set([...looked, ...keys.filter((key) => key.startsWith('email:')).flatMap(formsOf)]);
  const hashes = keys.filter((key) => key.startsWith('hash:') && !explained.has(key));
  if (hashes.length === 0) return [];
  for (const hash of hashes) looked.add(hash);
  const { rows } = await sql<{ key: string }>`
    select distinct key from (
      select unnest(keys) as key from run_rows union all select unnest(identity_keys) from observation_log
    ) known where starts_with(key, 'email:') and array[${hashKeysOf(sql`key`)}] && ${hashes}::text[]
  `.execute(database);
  return rows.map(({ key }) => key);
}

/** A row of an export, or the cells that the log keeps of the row. */
interface FoundRow extends RowKey, ContactKey, IdentityColumns {
  readonly keys: readonly string[];
  readonly personId: string | null;
  /** Whether the row was found as accepted for the person. */
  readonly isAccepted: boolean;
}

const cells = sql.raw(identityColumns.join(', '));

/** Condition: somebody has decided that the contact `c` of a run `runs` is not the person whom it had. */
const wasWrong = (personKey: RawBuilder<unknown>, evidence: RawBuilder<unknown>) =>
  isOverruled({ source: sql`runs.source`, contactId: sql`c.contact_id`, personKey, evidence });

/**
 * Finds rows with one of these keys, rows that were accepted as one of these people, and followed rows. The log keeps
 * the cells of contacts when retention has pruned their rows.
 */
async function findRows(
  database: Kysely<Tables>,
  keys: readonly string[],
  people: readonly PersonName[],
  followed: readonly RowKey[],
): Promise<FoundRow[]> {
  const { rows } = await sql<FoundRow>`
    with found as materialized (
      select r.run_id, r.row_number, null as person_key, null as evidence
      from run_rows r
      where ${sharesKey(sql`select unnest(${keys}::text[])`)}
      union
      select k.run_id, k.row_number, null, null
      from unnest(${keys}::text[]) as key
      cross join lateral (
        select run_id, row_number from contact_records where keys @> array[key] offset 0
      ) k
      union
      select run_id, row_number, 'person:' || person_id, evidence
      from attempt_people where person_id = any(${idsIn(keys)}::text[])
      union
      select m.run_id, m.row_number, m.person_key, m.evidence
      from (${peopleOf(people)}) as p (service, person_key)
      cross join lateral (
        select * from contact_matches m where m.service = p.service and m.person_key = p.person_key offset 0
      ) m
      union
      select run_id, row_number, null, null from ${unnestRows(followed)} as f (run_id, row_number)
    )
    select distinct runs.run_id as "runId", found.row_number as "rowNumber", runs.source,
      c.contact_id as "contactId", c.keys, ${identityCells('c')},
      p.person_id as "personId", found.person_key is not null as "isAccepted"
    from found
    join runs on runs.run_id = found.run_id
    cross join lateral (
      select contact_id, keys, ${cells} from run_rows
      where run_id = found.run_id and row_number = found.row_number
      union
      select contact_id, keys, ${cells} from contact_records
      where run_id = found.run_id and row_number = found.row_number
    ) c
    left join lateral (
      select * from attempt_people p where p.run_id = found.run_id and p.row_number = found.row_number offset 0
    ) p on p.outcome = 'enriched' and not ${wasWrong(sql`'person:' || p.person_id`, sql`p.evidence`)}
    where found.person_key is null or not ${wasWrong(sql`found.person_key`, sql`found.evidence`)}
  `.execute(database);
  return rows;
}

/** A row of a CRM record of the person, or the cells that the log keeps of the row. */
type RowOfRecord = RowKey & ContactKey & NameCells & { readonly keys: readonly string[] };

/**
 * Follows the CRM records of a person. A row with the name of another row of the record that is the person is the
 * person as well: a contact keeps its person if only its name stays. A row is not followed if its name contradicts a
 * name of the person: the address in the row may have had another owner.
 *
 * @param person.names by which answers name the person, or otherwise rows
 * @returns rows of the person, and rows of the same records that name somebody else
 */
async function followRecords(
  database: Kysely<Tables>,
  person: {
    readonly rows: readonly FoundRow[];
    readonly contacts: readonly ContactKey[];
    readonly names: readonly NameCells[];
  },
): Promise<{ readonly followed: readonly RowOfRecord[]; readonly others: readonly RowOfRecord[] }> {
  const { names, contacts } = person;
  const contradicts = (row: NameCells): boolean =>
    names.some((name) => ['other_first_name', 'differ'].includes(compareNameCells(row, name)));
  const own = person.rows.filter((row) => row.isAccepted || !contradicts(row));
  const { rows } = await sql<RowOfRecord>`
    select distinct r.run_id as "runId", r.row_number as "rowNumber", runs.source, r.contact_id as "contactId", r.keys,
      r.first_name, r.last_name, r.name
    from (select distinct * from ${unnestContacts([...own, ...contacts])} as t (source, contact_id)) named
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
  `.execute(database);
  const isSameRecord = (one: ContactKey, other: ContactKey): boolean =>
    one.source === other.source && one.contactId === other.contactId;
  const followed = rows.filter((row) => {
    const alike = own.filter((one) => isSameRecord(one, row) && compareNameCells(one, row) === 'agree');
    return (
      alike.some(({ isAccepted }) => isAccepted) ||
      (!contradicts(row) &&
        (alike.length > 0 ||
          (contacts.some((contact) => isSameRecord(contact, row)) &&
            names.some((name) => compareNameCells(name, row) === 'agree'))))
    );
  });
  return { followed, others: rows.filter((row) => contradicts(row) && !followed.includes(row)) };
}

/** Finds the people without an id whom answers gave to calls for these records. Nothing tells who they are. */
async function findPeopleWithoutIds(
  database: Kysely<Tables>,
  records: readonly ContactKey[],
): Promise<readonly PersonName[]> {
  const keys = records.map(({ source, contactId }) => ownerKey(source, contactId));
  const { rows } = await sql<PersonName>`
    select distinct service, person_key as "personKey"
    from person_keys
    where key = any(${keys}::integer[]) and starts_with(person_key, 'row:')
  `.execute(database);
  return rows;
}

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
async function findPeople(
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
async function readPeople(database: Kysely<Tables>, theirs: RawBuilder<unknown>): Promise<FoundPerson[]> {
  const { rows } = await sql<FoundPerson>`
    select distinct o.service, o.person_key as "personKey", o.person_id as "personId", o.identity_keys as confirmed,
      o.facts #>> '{email,email}' as email, o.facts #>> '{first_name,first_name}' as "firstName",
      o.facts #>> '{first_name,last_name}' as "lastName"
    from observation_log o where ${theirs}
  `.execute(database);
  return rows;
}

function nameOf({ firstName, lastName }: FoundPerson): NameCells {
  return { first_name: firstName, last_name: lastName, name: null };
}

function peopleOf(people: readonly PersonName[]): RawBuilder<unknown> {
  return sql`
    select * from unnest(${people.map(({ service }) => service)}::text[],
      ${people.map(({ personKey }) => personKey)}::text[])`;
}

/** Identity keys of a person; a shared mailbox only together with the name. */
function keysOf(person: FoundPerson): string[] {
  return [
    ...person.confirmed,
    ...(person.personId === null ? [] : [`person:${person.personId}`]),
    ...identityKeys({
      ...(person.email !== null && { email: person.email }),
      ...(person.firstName !== null && { firstName: person.firstName }),
      ...(person.lastName !== null && { lastName: person.lastName }),
    }),
  ];
}

/**
 * Finds rows without keys: pruned rows with the id of one of the person's records, except those whose cells in the log
 * are another person's, and malformed rows whose text has one of the person's keys.
 */
async function findRowsWithoutKeys(
  database: Kysely<Tables>,
  forms: readonly string[],
  records: readonly ContactKey[],
): Promise<RowKey[]> {
  const { rows } = await sql<RowKey>`
    select r.run_id as "runId", r.row_number as "rowNumber"
    from ${unnestContacts(records)} as record (source, contact_id)
    join run_rows r on r.contact_id = record.contact_id and r.keys = '{}' and r.raw = '[]'
    join runs on runs.run_id = r.run_id and runs.source = record.source
    where not exists (
      select from contact_records k
      where k.source = record.source and k.contact_id = record.contact_id and k.run_id = r.run_id
        and k.keys <> '{}' and not k.keys && ${forms}::text[])
    union
    select run_id, row_number
    from run_rows
    where keys = '{}' and raw <> '[]' and lower(raw) ~ any(${textsOf(forms).map(asWord)}::text[])
  `.execute(database);
  return rows;
}

/** Texts that identify the person wherever they are. Names and shared addresses also occur in data of other people. */
export function textsOf(forms: readonly string[]): string[] {
  return forms.flatMap((form) =>
    form.includes('|') || form.startsWith('name:') ? [] : [form.slice(form.indexOf(':') + 1)],
  );
}

export function asWord(text: string): string {
  const escaped = text.toLowerCase().replaceAll(/[!-/:-?[-^`{-~]/g, String.raw`\$&`);
  // The key of a profile leaves out the host's `www.`, and an address ends with its domain.
  const before = text.includes('/') ? '[a-z0-9_%+-]' : '[a-z0-9._%+-]';
  return `(?<!${before})${escaped}(?![a-z0-9-])`;
}

async function findContacts(database: Kysely<Tables>, people: readonly PersonName[]): Promise<ContactKey[]> {
  const { rows } = await sql<ContactKey>`
    select source, contact_id as "contactId" from contacts where ${isOfPeople(people)}
    order by source, contact_id
  `.execute(database);
  return rows;
}

function idsIn(keys: readonly string[]): string[] {
  return keys.flatMap((key) => (key.startsWith('person:') ? [key.slice('person:'.length)] : []));
}

/** A quarantined delivery that names the person says nothing about its call. */
async function findAttempts(
  database: Kysely<Tables>,
  {
    keys,
    personIds,
    people,
    rows,
  }: {
    readonly keys: readonly string[];
    readonly personIds: readonly string[];
    readonly people: readonly PersonName[];
    readonly rows: readonly RowKey[];
  },
): Promise<string[]> {
  const { rows: attempts } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempt_people
    where (run_id, row_number) in (select * from ${unnestRows(rows)})
    union select attempt_id from raw_answers
    where unrecorded_keys <> '{}' and unrecorded_keys && ${keys}::text[]
    union select attempt_id from attempts where found_ids <> '{}' and found_ids && ${personIds}::text[]
    union select attempt_id from webhook_deliveries
    where person_ids <> '{}' and person_ids && ${personIds}::text[] and attempt_id is not null
      and status <> 'quarantined'
    union select attempt_id from observation_log where ${isOfPeople(people)}
  `.execute(database);
  return attempts.map(({ attemptId }) => attemptId);
}

/**
 * Finds the identity keys of a CRM record: of the person who its contact is, and of the rows with its id.
 *
 * @returns undefined if the keys are of two people: some rows share no key with the others
 */
export async function keysOfRecord(
  database: Kysely<Tables>,
  record: ContactKey,
): Promise<string[] | undefined> {
  const contacts = await database
    .selectFrom('contact_matches')
    .where('valid_to', 'is', null)
    .select(['service', 'person_key as personKey'])
    .where('source', '=', record.source)
    .where('contact_id', '=', record.contactId)
    .execute();
  const known = await readPeople(database, sql`(o.service, o.person_key) in (${peopleOf(contacts)})`);
  const { rows } = await sql<{ keys: string[] }>`
    select r.keys
    from run_rows r
    join runs using (run_id)
    where r.contact_id = ${record.contactId}
      and runs.source = ${record.source}
      and r.keys <> '{}'
  `.execute(database);
  const named = [...known.map(keysOf), ...rows.map(({ keys }) => keys)].filter((keys) => keys.length > 0);
  if (named.length < 2) return named.flat();
  const { forms } = await findPerson(database, named[0]!);
  const isTheirs = (keys: readonly string[]): boolean => keys.some((key) => forms.includes(key));
  return named.every(isTheirs) ? named.flat() : undefined;
}

/**
 * Finds people with an id whom an erasure of a person leaves, although the answers to the same calls give them the
 * person's name. Such a person can be the same human: a service can state another id and another address later.
 *
 * @param keys identity keys of one person
 * @returns `person:` keys
 */
export async function findNamesakes({ database }: Warehouse, keys: readonly string[]): Promise<string[]> {
  const { attemptIds, people, names } = await findPerson(database, keys);
  if (attemptIds.length === 0) return [];
  const answered = await readPeople(
    database,
    sql`o.run_id in (select run_id from attempts where attempt_id = any(${attemptIds}::text[]))
      and o.attempt_id = any(${attemptIds}::text[]) and o.person_id is not null
      and (o.service, o.person_key) not in (${peopleOf(people)})`,
  );
  const alike = answered.filter((person) =>
    names.some((name) => compareNameCells(name, nameOf(person)) === 'agree'),
  );
  return [...new Set(alike.map(({ personId }) => `person:${personId}`))].toSorted();
}
