import { createHash } from 'node:crypto';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { isRoleAddress } from '../domain/identity/email-address.ts';
import { identityKeys } from '../domain/identity/identity-keys.ts';
import type { Tables } from '../db/schema.ts';

/** Where the warehouse holds anything of a person. */
export interface PersonTraces {
  /** Every identity key that they are known by, and nobody else: not the address that they share with colleagues. */
  readonly keys: readonly string[];
  /** The same, and the hashes of their addresses: whatever of this is a key somewhere is theirs. */
  readonly forms: readonly string[];
  /** Their ids at the service. */
  readonly personIds: readonly string[];
  readonly contacts: readonly { readonly source: string; readonly contactId: string }[];
  readonly rows: readonly { readonly runId: string; readonly rowNumber: number }[];
  /** Calls that asked for them, or whose answer had them. */
  readonly attemptIds: readonly string[];
  /** Entries of the journal that hold what a contact or a number of theirs was. */
  readonly journalEntries: readonly string[];
}

interface FoundContact {
  /** Null: it is what the contact is now. */
  readonly entryId: string | null;
  readonly source: string;
  readonly contactId: string;
  readonly personId: string | null;
  readonly email: string | null;
  readonly profileUrl: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/** A person has a handful of names; a search that still finds new ones after so many rounds is no longer about one person. */
const mostRounds = 20;

/**
 * Finds a person under every name that the warehouse has for them: rows and contacts that share a key are one person, as in a
 * plan, and what they are known by is looked for in turn. It reads all staged rows, which takes some seconds for millions:
 * an index over their keys would cost every import more.
 *
 * @param known identity keys to begin with
 */
export async function findPerson(database: Kysely<Tables>, known: readonly string[]): Promise<PersonTraces> {
  const keys = new Set(known);
  const hashes = new Set<string>();
  for (let round = 0; round < mostRounds; round += 1) {
    const before = keys.size;
    const learn = (learned: readonly string[]): void => {
      for (const key of learned) if (!isShared(key)) keys.add(key);
    };
    learn(await addressesOf(database, [...keys], hashes));
    const forms = [...keys].flatMap(formsOf);
    const rows = await findRows(database, forms);
    for (const row of rows) learn(row.keys);
    const personIds = new Set(idsIn(keys));
    for (const { personId } of rows) if (personId !== null) personIds.add(personId);
    const found = await findContacts(database, [...keys], [...personIds], rows);
    // A record that is about somebody else by now is theirs no more; what it was still is.
    const contacts = found.filter(({ entryId }) => entryId === null);
    for (const contact of found) {
      learn(keysOf(contact));
      if (contact.personId !== null) personIds.add(contact.personId);
    }
    learn([...personIds].map((personId) => `person:${personId}`));
    if (keys.size > before) continue;
    return {
      keys: [...keys],
      forms,
      personIds: [...personIds],
      contacts: contacts.map(({ source, contactId }) => ({ source, contactId })),
      rows: [...rows, ...(await findWordless(database, forms, [...rows, ...contacts]))].map(
        ({ runId, rowNumber }) => ({ runId, rowNumber }),
      ),
      attemptIds: await findAttempts(database, [...personIds], rows),
      journalEntries: found.flatMap(({ entryId }) => (entryId === null ? [] : [entryId])),
    };
  }
  throw new Error(`more than ${mostRounds} rounds of names: these are not of one person`);
}

/** An address that several people read, without the name of one of them, is a way to nobody in particular. */
function isShared(key: string): boolean {
  return key.startsWith('email:') && !key.includes('|') && isRoleAddress(key.slice('email:'.length));
}

/** How exports write a key: of an address some have only a hash. */
function formsOf(key: string): string[] {
  if (!key.startsWith('email:') || key.includes('|')) return [key];
  const email = key.slice('email:'.length);
  return [key, ...['md5', 'sha256'].map((name) => `hash:${createHash(name).update(email).digest('hex')}`)];
}

/**
 * Keys of the addresses whose hashes these are. It hashes every address that is known, which is why it is only done for
 * hashes that are of none of the person's.
 *
 * @param looked hashes that were looked for before; these are added to them
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
      select unnest(keys) as key from run_rows union all select identity_key from lookup_history
      union all select 'email:' || email from enriched_contacts union all select 'email:' || (former ->> 'email') from contact_journal
    ) known where starts_with(key, 'email:') and ('hash:' || md5(substr(key, 7)) = any(${hashes}::text[])
      or 'hash:' || encode(sha256(convert_to(substr(key, 7), 'UTF8')), 'hex') = any(${hashes}::text[]))
  `.execute(database);
  return rows.map(({ key }) => key);
}

/**
 * What a record of the CRM is known by: its contact, and the rows of exports that bear its id.
 *
 * @returns undefined where it was about one person once, and is about another now: rows of theirs share no name
 */
export async function keysOfRecord(
  database: Kysely<Tables>,
  record: { readonly source: string; readonly contactId: string },
): Promise<string[] | undefined> {
  const contacts = await readContacts(
    database,
    sql`c.source = ${record.source} and c.contact_id = ${record.contactId}`,
  );
  const { rows } = await sql<{ keys: string[] }>`
    select r.keys from run_rows r join runs using (run_id)
    where r.contact_id = ${record.contactId} and coalesce(runs.source, 'generic') = ${record.source} and r.keys <> '{}'
  `.execute(database);
  const named = [...contacts.map(keysOf), ...rows.map(({ keys }) => keys)].filter((keys) => keys.length > 0);
  if (named.length < 2) return named.flat();
  const { forms } = await findPerson(database, named[0]!);
  const isTheirs = (keys: readonly string[]): boolean => keys.some((key) => forms.includes(key));
  return named.every(isTheirs) ? named.flat() : undefined;
}

interface FoundRow {
  readonly runId: string;
  readonly rowNumber: number;
  readonly source: string;
  readonly contactId: string;
  readonly keys: readonly string[];
  /** Of whoever was given to the row. */
  readonly personId: string | null;
}

async function findRows(database: Kysely<Tables>, keys: readonly string[]): Promise<FoundRow[]> {
  const { rows } = await sql<FoundRow>`
    select r.run_id as "runId", r.row_number as "rowNumber", coalesce(runs.source, 'generic') as source,
      r.contact_id as "contactId", r.keys, p.person_id as "personId"
    from run_rows r join runs using (run_id) left join attempt_people p on p.run_id = r.run_id and p.row_number = r.row_number and p.outcome = 'enriched'
    where r.keys && ${keys}::text[]
       or (r.run_id, r.row_number) in (select run_id, row_number from attempt_people where person_id = any(${idsIn(keys)}::text[]))
  `.execute(database);
  return rows;
}

/**
 * Rows that are known by nothing any more, or never were: what was pruned and bears the id of a record of theirs, and what could
 * not be read and has a name of theirs in it.
 */
async function findWordless(
  database: Kysely<Tables>,
  forms: readonly string[],
  records: readonly { readonly source: string; readonly contactId: string }[],
): Promise<{ runId: string; rowNumber: number }[]> {
  // Shared addresses and names are in the text of others as well.
  const texts = forms.flatMap((form) =>
    form.includes('|') || form.startsWith('name:') ? [] : [form.slice(form.indexOf(':') + 1)],
  );
  const { rows } = await sql<{ runId: string; rowNumber: number }>`
    select r.run_id as "runId", r.row_number as "rowNumber" from run_rows r join runs using (run_id)
    where r.keys = '{}' and case when r.raw = '[]'
      then (coalesce(runs.source, 'generic'), r.contact_id) in (
        select * from unnest(${records.map(({ source }) => source)}::text[], ${records.map(({ contactId }) => contactId)}::text[]))
      else lower(r.raw) ~ any(${texts.map(asWord)}::text[]) end
  `.execute(database);
  return rows;
}

/** A pattern of PostgreSQL for a text that is not part of a longer name. */
function asWord(text: string): string {
  const escaped = text.toLowerCase().replaceAll(/[!-/:-?[-^`{-~]/g, String.raw`\$&`);
  return `(^|[^a-z0-9._%+-])${escaped}($|[^a-z0-9-])`;
}

/** Contacts as they are, and as they were. */
async function findContacts(
  database: Kysely<Tables>,
  keys: readonly string[],
  personIds: readonly string[],
  rows: readonly FoundRow[],
): Promise<FoundContact[]> {
  const emails = keys.flatMap((key) =>
    key.startsWith('email:') && !key.includes('|') && !isShared(key) ? [key.slice('email:'.length)] : [],
  );
  const profileUrls = keys.flatMap((key) =>
    key.startsWith('profile:') ? [key.slice('profile:'.length)] : [],
  );
  const theirs = sql`(c.person_id = any(${personIds}::text[])
    or c.email = any(${emails}::text[])
    or c.profile_url = any(${profileUrls}::text[])
    or (c.run_id, c.row_number) in (
      select * from unnest(${rows.map((row) => row.runId)}::text[], ${rows.map((row) => row.rowNumber)}::int[])))`;
  return [
    ...(await readContacts(database, theirs)),
    ...(await readContacts(database, theirs, formerContacts)),
  ];
}

const presentContacts = sql`(select null::bigint as entry_id, now.* from enriched_contacts now)`;
/** A number that was theirs has their id, and nothing else of a contact. Only what is looked at: whole records took six times as long. */
const formerContacts = sql`(
  select entry_id, source, contact_id, former ->> 'person_id' as person_id, former ->> 'email' as email,
    former ->> 'profile_url' as profile_url, former ->> 'first_name' as first_name, former ->> 'last_name' as last_name,
    former ->> 'run_id' as run_id, (former ->> 'row_number')::int as row_number
  from contact_journal where former is not null)`;

/** @param theirs which contacts are theirs; @param contacts where to look */
async function readContacts(
  database: Kysely<Tables>,
  theirs: RawBuilder<unknown>,
  contacts: RawBuilder<unknown> = presentContacts,
): Promise<FoundContact[]> {
  const { rows } = await sql<FoundContact>`
    select c.entry_id as "entryId", c.source, c.contact_id as "contactId", c.person_id as "personId", c.email, c.profile_url as "profileUrl",
      c.first_name as "firstName", c.last_name as "lastName"
    from ${contacts} c where ${theirs}
  `.execute(database);
  return rows;
}

function keysOf(contact: FoundContact): string[] {
  return identityKeys({
    ...(contact.personId !== null && { personId: contact.personId }),
    ...(contact.email !== null && { email: contact.email }),
    ...(contact.profileUrl !== null && { profileUrl: contact.profileUrl }),
    ...(contact.firstName !== null && { firstName: contact.firstName }),
    ...(contact.lastName !== null && { lastName: contact.lastName }),
  });
}

function idsIn(keys: Iterable<string>): string[] {
  return [...keys].flatMap((key) => (key.startsWith('person:') ? [key.slice('person:'.length)] : []));
}

async function findAttempts(
  database: Kysely<Tables>,
  personIds: readonly string[],
  rows: readonly FoundRow[],
): Promise<string[]> {
  const { rows: attempts } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempt_people where (run_id, row_number) in (
      select * from unnest(${rows.map((row) => row.runId)}::text[], ${rows.map((row) => row.rowNumber)}::int[]))
    union select attempt_id from attempts where found_ids && ${personIds}::text[]
    union select attempt_id from webhook_deliveries where person_ids && ${personIds}::text[] and attempt_id is not null
    union select attempt_id from contact_phones where person_id = any(${personIds}::text[])
  `.execute(database);
  return attempts.map(({ attemptId }) => attemptId);
}
