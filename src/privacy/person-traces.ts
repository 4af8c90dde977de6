import { sql, type Kysely, type RawBuilder } from 'kysely';
import { emailHashes } from '../domain/identity/values/email-address.ts';
import { identityKeys, isNamelessMailboxKey } from '../domain/identity/identity-keys.ts';
import { identityColumns, identityOfColumns, type IdentityColumns } from '../domain/identity/identity.ts';
import { contactOwnerKey } from '../domain/identity/match-keys.ts';
import { compareNameCells, type NameCells } from '../domain/identity/names/name-agreement.ts';
import type { Tables } from '../db/schema.ts';
import type { Warehouse } from '../db/database.ts';
import { contactKeyText, unnestRows, type ContactKey, type RowKey } from '../keys/contact-key.ts';
import { emailKeysOfHash, rowHasOneOfKeys } from '../keys/key-lookups.ts';
import {
  isOverruled,
  isOverruledMatch,
  identityHashOfRecord,
} from '../people/decisions/contact-decisions.ts';
import { isAboutPeople, type PersonReference } from '../people/people-tables.ts';
import { recordKeysOf } from '../suppression/compared-keys.ts';

export type PersonTraces = Awaited<ReturnType<typeof tracesOf>>;

/** Maximum rounds of a search. If a search still finds new keys after this many rounds, it has reached other people. */
const maxRounds = 20;

/**
 * Finds a person under every key: rows and people in answers with a key, rows and people matched to each other, and
 * rows of the same CRM records with the person's name. The search repeats until there are no new keys.
 */
export async function findPersonTraces(
  database: Kysely<Tables>,
  known: readonly string[],
): Promise<PersonTraces> {
  const keys = new Set(known);
  let people: readonly FoundPerson[] = [];
  let rows: readonly FoundRow[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const before = keys.size + people.length + rows.length;
    for (const address of await addressesOf(database, [...keys])) keys.add(address);
    const ofRecords = await findRows(database, [...keys].flatMap(formsOf), people);
    rows = ofRecords.filter(({ isOwn }) => isOwn);
    const accepted = await findAccepted(database, rows);
    // There are two queries, because with `or` PostgreSQL would read the whole log.
    people = await readPeople(
      database,
      sql`o.observation_id in (
        select observation_id from observation_log where identity_keys && ${[...keys]}::text[]
        union all
        select observation_id from observation_log where person_key = any(${accepted}::text[]))`,
    );
    const withIds = accepted.filter((personKey) => personKey.startsWith('person:'));
    for (const key of [...rows.flatMap((row) => row.keys), ...people.flatMap(keysOf), ...withIds])
      if (!isNamelessMailboxKey(key)) keys.add(key);
    if (keys.size + people.length + rows.length === before)
      return tracesOf(database, [...keys], people, ofRecords);
  }
  throw new Error(`more than ${maxRounds} rounds of names: these are not of one person`);
}

/** Finds all places in the warehouse with data about one person. */
async function tracesOf(
  database: Kysely<Tables>,
  keys: readonly string[],
  found: readonly FoundPerson[],
  ofRecords: readonly FoundRow[],
) {
  const forms = keys.flatMap(formsOf);
  const rows = ofRecords.filter(({ isOwn }) => isOwn);
  const ofOthers = new Set(ofRecords.filter(({ isOwn }) => !isOwn).map(contactKeyText));
  const attemptIds = await findAttempts(database, { keys, people: found, rows });
  const people = [...found, ...(await findUnassigned(database, attemptIds, rows))];
  const { rows: contacts } = await sql<ContactKey>`
    select source, contact_id as "contactId" from contacts where ${isAboutPeople(people)}
    order by source, contact_id
  `.execute(database);
  const identities = rows.map((row) => ({ row, identity: identityOfColumns(row) }));
  return {
    /** Identity keys that belong only to this person, without mailboxes shared with colleagues. */
    keys,
    /** The identity keys of this person, and the hashes of the e-mails among them. */
    forms,
    personIds: idsIn(keys),
    /** Keys of the person in the observation log. */
    people,
    names: [...found.map(nameOf), ...rows],
    /** Contacts that are matched to the person now. */
    contacts,
    rows: [...rows, ...(await findUnreadRows(database, forms))].map(({ runId, rowNumber }) => ({
      runId,
      rowNumber,
    })),
    /** CRM records of the person's rows and contacts. */
    records: [...new Map([...rows, ...contacts].map((each) => [contactKeyText(each), each])).values()],
    /** Hashes of the person's identity in these CRM records. */
    recordHashes: identities.map(({ identity }) => identityHashOfRecord(identity)),
    /** Keys of CRM records to suppress, because the next export may have another e-mail in a record. */
    recordKeys: identities.flatMap(({ row, identity }) => {
      const { id, named } = recordKeysOf(row, identity);
      return id.length > 0 && !ofOthers.has(contactKeyText(row)) ? id : named;
    }),
    /** Attempts for the person, or with the person in their answer. */
    attemptIds,
  };
}

/** Returns a key in every form that exports use. For an e-mail, this includes its hashes. */
function formsOf(key: string): string[] {
  if (!key.startsWith('email:') || key.includes('|')) return [key];
  const email = key.slice('email:'.length);
  return [key, ...emailHashes(email).map((hash) => `hash:${hash}`)];
}

/** Finds the e-mails in the observation log for the hashes among these keys, as `email:` keys. */
async function addressesOf(database: Kysely<Tables>, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select distinct known.identity_key as key
    from unnest(${keys}::text[]) as given (key)
    cross join lateral (${emailKeysOfHash(undefined, sql`given.key`)}) known
  `.execute(database);
  return rows.map(({ key }) => key);
}

/** A row of an export, or the cells of the row that contact records keep. */
interface FoundRow extends RowKey, ContactKey, IdentityColumns {
  readonly keys: readonly string[];
  /** False if the row has the same CRM record but names someone else. */
  readonly isOwn: boolean;
}

const cells = sql.raw(identityColumns.join(', '));

/** SQL condition on an accepted row `p` of a run: the operator has decided that the contact is not the person. */
const isOverruledRow = isOverruled({
  source: sql`runs.source`,
  contactId: sql`r.contact_id`,
  personKey: sql`'person:' || p.person_id`,
  evidence: sql`p.evidence`,
});

/**
 * Finds the rows with one of these keys, the rows matched to one of these people, and all other rows of their CRM
 * records. Contact records still have the cells when retention has cleared the rows.
 */
async function findRows(
  database: Kysely<Tables>,
  keys: readonly string[],
  people: readonly FoundPerson[],
): Promise<FoundRow[]> {
  const { rows } = await sql<FoundRow & { readonly isCleared: boolean }>`
    with found as materialized (
      select runs.source, r.contact_id, r.run_id, r.row_number
      from run_rows r
      join runs using (run_id)
      where ${rowHasOneOfKeys(sql`select unnest(${keys}::text[])`)}
      union
      select k.source, k.contact_id, k.run_id, k.row_number
      from unnest(${keys}::text[]) as key
      cross join lateral (select * from contact_records where keys @> array[key] offset 0) k
      union
      select runs.source, r.contact_id, p.run_id, p.row_number
      from attempt_people p
      join run_rows r using (run_id, row_number)
      join runs on runs.run_id = p.run_id
      where p.person_id = any(${idsIn(keys)}::text[]) and p.outcome = 'enriched' and not ${isOverruledRow}
      union
      select m.source, m.contact_id, m.run_id, m.row_number
      from contact_matches m
      where ${isAboutPeople(people)} and not ${isOverruledMatch}
    )
    select distinct of_record.*, found.run_id is not null as "isOwn"
    from (select distinct source, contact_id from found) record
    cross join lateral (
      select run_id as "runId", row_number as "rowNumber", runs.source, r.contact_id as "contactId", keys, ${cells},
        keys = '{}' and raw = '[]' as "isCleared"
      from run_rows r
      join runs using (run_id)
      where r.contact_id = record.contact_id and runs.source = record.source
      union
      select run_id, row_number, source, contact_id, keys, ${cells}, keys = '{}'
      from contact_records k
      where k.source = record.source and k.contact_id = record.contact_id
    ) of_record
    left join found on found.run_id = of_record."runId" and found.row_number = of_record."rowNumber"
  `.execute(database);
  const names = [...people.map(nameOf), ...rows.filter(({ isOwn }) => isOwn)];
  const named = rows.map((row) => ({
    ...row,
    isOwn: row.isOwn || names.some((name) => compareNameCells(name, row) === 'agree'),
  }));
  const ofOthers = new Set(named.filter((row) => !row.isOwn && !row.isCleared).map(contactKeyText));
  return named.map((row) => ({
    ...row,
    isOwn: row.isOwn || (row.isCleared && !ofOthers.has(contactKeyText(row))),
  }));
}

/** A person in one observation; a person with several observations appears once for each state of these values. */
interface FoundPerson extends PersonReference {
  readonly personId: string | null;
  readonly confirmed: readonly string[];
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/** Finds the people matched to these rows, except matches that the operator has rejected. @returns their `personKey` */
async function findAccepted(database: Kysely<Tables>, own: readonly RowKey[]): Promise<string[]> {
  // `offset 0` keeps PostgreSQL from reading a whole index for a join.
  const { rows } = await sql<{ personKey: string }>`
    select m.person_key as "personKey"
    from ${unnestRows(own)} as own (run_id, row_number)
    cross join lateral (
      select * from contact_matches where run_id = own.run_id and row_number = own.row_number offset 0
    ) m
    where not ${isOverruledMatch}
    union
    select 'person:' || p.person_id
    from ${unnestRows(own)} as own (run_id, row_number)
    join run_rows r using (run_id, row_number)
    join runs using (run_id)
    cross join lateral (
      select * from attempt_people where run_id = own.run_id and row_number = own.row_number offset 0
    ) p
    where p.outcome = 'enriched' and p.person_id is not null and not ${isOverruledRow}
  `.execute(database);
  return rows.map(({ personKey }) => personKey);
}

/**
 * Finds people without a contact who may be the person: people without an id in answers for these CRM records, and
 * people who are only in deliveries of calls without an answer.
 */
async function findUnassigned(
  database: Kysely<Tables>,
  attemptIds: readonly string[],
  records: readonly ContactKey[],
): Promise<readonly PersonReference[]> {
  const owners = records.map(({ source, contactId }) => contactOwnerKey(source, contactId));
  // `offset 0` keeps PostgreSQL from reading all matches and the whole log.
  const { rows } = await sql<PersonReference>`
    with named as materialized (
      select service, person_key
      from person_keys
      where key = any(${owners}::integer[]) and starts_with(person_key, 'row:')
      union
      select o.service, o.person_key
      from attempts a
      join observation_log o on o.run_id = a.run_id and o.attempt_id = a.attempt_id
      where a.attempt_id = any(${attemptIds}::text[]) and a.answered_at is null
    )
    select service, person_key as "personKey"
    from named
    where not exists (
        select from contact_matches m where m.service = named.service and m.person_key = named.person_key offset 0)
      and not exists (
        select from observation_log o
        where o.service = named.service and o.person_key = named.person_key and o.kind = 'answer'
          and o.person_id is not null
        offset 0)
  `.execute(database);
  return rows;
}

/** Reads people from the observation log. @param theirs condition on an observation `o` */
async function readPeople(database: Kysely<Tables>, theirs: RawBuilder<unknown>): Promise<FoundPerson[]> {
  const { rows } = await sql<FoundPerson>`
    select distinct o.service, o.person_key as "personKey", o.person_id as "personId", o.identity_keys as confirmed,
      o.facts #>> '{email,email}' as email, o.facts #>> '{first_name,first_name}' as "firstName",
      o.facts #>> '{first_name,last_name}' as "lastName"
    from observation_log o where ${theirs}
  `.execute(database);
  return rows;
}

/** The name of a person in the form in which cells are compared. */
function nameOf({ firstName, lastName }: FoundPerson): NameCells {
  return { first_name: firstName, last_name: lastName, name: null };
}

/** Identity keys of a person. A shared mailbox counts only together with the name. */
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

/** Finds unreadable rows with one of the person's keys in their text, even inside another word. */
async function findUnreadRows(database: Kysely<Tables>, forms: readonly string[]): Promise<RowKey[]> {
  const { rows } = await sql<RowKey>`
    select run_id as "runId", row_number as "rowNumber"
    from run_rows
    where keys = '{}' and raw <> '[]' and ${containsAny(sql`raw`, identifyingTexts(forms))}
  `.execute(database);
  return rows;
}

/** Texts that identify the person anywhere, without names and shared mailboxes, which other people have too. */
export function identifyingTexts(forms: readonly string[]): string[] {
  return forms.flatMap((form) =>
    form.includes('|') || form.startsWith('name:') ? [] : [form.slice(form.indexOf(':') + 1)],
  );
}

/** SQL condition: a text contains one of these texts, plain or encoded as in URLs. */
export function containsAny(text: RawBuilder<unknown>, texts: readonly string[]): RawBuilder<boolean> {
  const decoded = sql`replace(replace(lower(${text}), '%40', '@'), '%2b', '+')`;
  return sql<boolean>`exists (select from unnest(${texts}::text[]) as part where strpos(${decoded}, lower(part)) > 0)`;
}

/** The ids of the service in keys such as `person:5f2a`. */
function idsIn(keys: readonly string[]): string[] {
  return keys.flatMap((key) => (key.startsWith('person:') ? [key.slice('person:'.length)] : []));
}

/** Finds the attempts for a person. A name in a quarantined delivery does not link the person to the call. */
async function findAttempts(
  database: Kysely<Tables>,
  {
    keys,
    people,
    rows,
  }: {
    readonly keys: readonly string[];
    readonly people: readonly PersonReference[];
    readonly rows: readonly RowKey[];
  },
): Promise<string[]> {
  const personIds = idsIn(keys);
  const { rows: attempts } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempt_people
    where (run_id, row_number) in (select * from ${unnestRows(rows)})
    union select attempt_id from raw_answers
    where unrecorded_keys <> '{}' and unrecorded_keys && ${keys}::text[]
    union select attempt_id from attempts where found_ids <> '{}' and found_ids && ${personIds}::text[]
    union select attempt_id from webhook_deliveries
    where person_ids <> '{}' and person_ids && ${personIds}::text[] and attempt_id is not null
      and status <> 'quarantined'
    union select attempt_id from observation_log where ${isAboutPeople(people)}
  `.execute(database);
  return attempts.map(({ attemptId }) => attemptId);
}

/** Finds the keys of a CRM record's person and rows; undefined if rows without a common key name two people. */
export async function keysOfRecord(
  database: Kysely<Tables>,
  record: ContactKey,
): Promise<string[] | undefined> {
  const { rows } = await sql<{ keys: string[] }>`
    select array[person_key] as keys
    from contacts
    where source = ${record.source} and contact_id = ${record.contactId} and starts_with(person_key, 'person:')
    union all
    select keys from run_rows join runs using (run_id)
    where contact_id = ${record.contactId} and source = ${record.source} and keys <> '{}'
    union all
    select keys from contact_records
    where source = ${record.source} and contact_id = ${record.contactId} and keys <> '{}'
  `.execute(database);
  const named = rows.map(({ keys }) => keys);
  if (named.length < 2) return named.flat();
  const { forms } = await findPersonTraces(database, named[0]!);
  const isTheirs = (keys: readonly string[]): boolean => keys.some((key) => forms.includes(key));
  return named.every(isTheirs) ? named.flat() : undefined;
}

/**
 * Finds people with an id and the person's name, in answers to the same calls, who remain after an erasure. Each
 * may be the same human, because a service can use another id and e-mail later. @returns `person:` keys
 */
export async function findNamesakes({ database }: Warehouse, keys: readonly string[]): Promise<string[]> {
  const { attemptIds, people, names } = await findPersonTraces(database, keys);
  if (attemptIds.length === 0) return [];
  const answered = await readPeople(
    database,
    sql`o.run_id in (select run_id from attempts where attempt_id = any(${attemptIds}::text[]))
      and o.attempt_id = any(${attemptIds}::text[]) and o.person_id is not null
      and not ${isAboutPeople(people)}`,
  );
  const alike = answered.filter((person) =>
    names.some((name) => compareNameCells(name, nameOf(person)) === 'agree'),
  );
  return [...new Set(alike.map(({ personId }) => `person:${personId}`))].toSorted();
}
