import { sql, type Kysely, type RawBuilder } from 'kysely';
import { identityKeys } from '../domain/identity-keys.ts';
import { parseProfileUrl } from '../domain/profile-url.ts';
import type { Tables } from './tables.ts';

/** Where the warehouse holds anything of a person. */
export interface PersonTraces {
  /** Every identity key that they are known by. */
  readonly keys: readonly string[];
  /** Their ids at the service. */
  readonly personIds: readonly string[];
  readonly contacts: readonly { readonly source: string; readonly contactId: string }[];
  readonly rows: readonly { readonly runId: string; readonly rowNumber: number }[];
  /** Calls that asked for them, or whose answer had them. */
  readonly attemptIds: readonly string[];
}

interface FoundContact {
  readonly source: string;
  readonly contactId: string;
  readonly personId: string | null;
  readonly email: string | null;
  readonly linkedinUrl: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** Not only a profile URL that looks like theirs. */
  readonly isTheirs: boolean;
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
  for (let round = 0; round < mostRounds; round += 1) {
    const before = keys.size;
    const rows = await findRows(database, [...keys]);
    for (const row of rows) for (const key of row.keys) keys.add(key);
    const personIds = new Set(idsIn(keys));
    for (const { personId } of rows) if (personId !== null) personIds.add(personId);
    const contacts = await findContacts(database, [...keys], [...personIds], rows);
    for (const contact of contacts) {
      for (const key of keysOf(contact)) keys.add(key);
      if (contact.personId !== null) personIds.add(contact.personId);
    }
    for (const personId of personIds) keys.add(`person:${personId}`);
    if (keys.size > before) continue;
    return {
      keys: [...keys],
      personIds: [...personIds],
      contacts: contacts.map(({ source, contactId }) => ({ source, contactId })),
      rows: rows.map(({ runId, rowNumber }) => ({ runId, rowNumber })),
      attemptIds: await findAttempts(database, [...personIds], rows),
    };
  }
  throw new Error(`more than ${mostRounds} rounds of names: these are not of one person`);
}

/** What a record of the CRM is known by: its contact, and the rows of exports that bear its id. */
export async function keysOfRecord(
  database: Kysely<Tables>,
  record: { readonly source: string; readonly contactId: string },
): Promise<string[]> {
  const contacts = await readContacts(
    database,
    sql`c.source = ${record.source} and c.contact_id = ${record.contactId}`,
  );
  const rows = await sql<{ key: string }>`
    select distinct identity_key as key from run_rows r join runs using (run_id), unnest(r.keys) as identity_key
    where r.contact_id = ${record.contactId} and runs.source = ${record.source}
  `.execute(database);
  return [...contacts.flatMap(keysOf), ...rows.rows.map(({ key }) => key)];
}

interface FoundRow {
  readonly runId: string;
  readonly rowNumber: number;
  readonly keys: readonly string[];
  /** Of whoever was given to the row. */
  readonly personId: string | null;
}

async function findRows(database: Kysely<Tables>, keys: readonly string[]): Promise<FoundRow[]> {
  const { rows } = await sql<FoundRow>`
    select r.run_id as "runId", r.row_number as "rowNumber", r.keys, p.person_id as "personId"
    from run_rows r left join attempt_people p on p.run_id = r.run_id and p.row_number = r.row_number and p.outcome = 'enriched'
    where r.keys && ${keys}::text[]
       or (r.run_id, r.row_number) in (select run_id, row_number from attempt_people where person_id = any(${idsIn(keys)}::text[]))
  `.execute(database);
  return rows;
}

async function findContacts(
  database: Kysely<Tables>,
  keys: readonly string[],
  personIds: readonly string[],
  rows: readonly FoundRow[],
): Promise<FoundContact[]> {
  const emails = keys.flatMap((key) =>
    key.startsWith('email:') && !key.includes('|') ? [key.slice('email:'.length)] : [],
  );
  // The service writes profile URLs in forms of its own: found by their last part, and compared in ours.
  const profileEnds = keys.flatMap((key) => {
    const end = key.startsWith('profile:') ? key.split('/').slice(2).join('/') : '';
    return end === '' ? [] : [end, encodeURI(end).toLowerCase()];
  });
  const contacts = await readContacts(
    database,
    sql`(c.person_id = any(${personIds}::text[]) or c.email = any(${emails}::text[]) or (c.run_id, c.row_number) in (
      select * from unnest(${rows.map((row) => row.runId)}::text[], ${rows.map((row) => row.rowNumber)}::int[])))`,
    sql`exists (select 1 from unnest(${profileEnds}::text[]) as profile where position(profile in lower(c.linkedin_url)) > 0)`,
  );
  return contacts.filter((contact) => contact.isTheirs || keysOf(contact).some((key) => keys.includes(key)));
}

/** @param theirs which contacts are certainly theirs; @param perhaps which others to return */
async function readContacts(
  database: Kysely<Tables>,
  theirs: RawBuilder<unknown>,
  perhaps: RawBuilder<unknown> = sql`false`,
): Promise<FoundContact[]> {
  const { rows } = await sql<FoundContact>`
    select c.source, c.contact_id as "contactId", c.person_id as "personId", c.email, c.linkedin_url as "linkedinUrl",
      c.first_name as "firstName", c.last_name as "lastName", coalesce(${theirs}, false) as "isTheirs"
    from enriched_contacts c where ${theirs} or ${perhaps}
  `.execute(database);
  return rows;
}

function keysOf(contact: FoundContact): string[] {
  const profileUrl = contact.linkedinUrl === null ? undefined : parseProfileUrl(contact.linkedinUrl);
  return identityKeys({
    ...(contact.personId !== null && { personId: contact.personId }),
    ...(contact.email !== null && { email: contact.email }),
    ...(profileUrl !== undefined && { profileUrl }),
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
