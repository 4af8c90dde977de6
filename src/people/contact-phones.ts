import { sql, type Transaction } from 'kysely';
import { parseEmail } from '../domain/identity/email-address.ts';
import { isBetterEmail } from '../domain/late-results/late-assignment.ts';
import { bestPhone, readPhones, type DeliveredPhone, type Phone } from '../domain/identity/phone.ts';
import type { Tables } from '../db/schema.ts';

/** A contact that a late result is for. */
export interface LateContact {
  readonly source: string;
  readonly contactId: string;
  readonly personId: string;
  readonly runId: string;
  readonly rowNumber: number;
  readonly attemptId: string;
  /** When it was asked for, by the database's clock, in full precision. */
  readonly askedAt: string;
  readonly emails: readonly string[];
  /** Its run was taken back: nothing of it is written to contacts any more. */
  readonly undone: boolean;
}

interface Given<Person> {
  readonly contact: LateContact;
  readonly person: Person;
}

/**
 * Writes delivered phones: every number into `contact_phones`, and the best one of each contact into
 * `enriched_contacts.phone`. The newest answer speaks for a contact: a late result of an older one adds numbers to the
 * list and changes nothing that is newer. Where its run is undone it is only remembered what was missing: that was asked and paid.
 */
export async function writePhones(
  transaction: Transaction<Tables>,
  delivery: { readonly deliveryId: string; readonly origin: 'reveal' | 'waterfall' },
  given: readonly Given<{ readonly phones: readonly DeliveredPhone[] }>[],
): Promise<void> {
  if (given.length === 0) return;
  const written = given.filter(({ contact }) => !contact.undone);
  // In one order everywhere, so that two writers of the same contacts wait for one another only one way round.
  await sql`
    select 1 from enriched_contacts c
    join unnest(${written.map(({ contact }) => contact.source)}::text[], ${written.map(({ contact }) => contact.contactId)}::text[]) as g (source, contact_id)
      on g.source = c.source and g.contact_id = c.contact_id
    order by c.source, c.contact_id for update of c
  `.execute(transaction);
  const rows = written.flatMap(({ contact, person }) =>
    readPhones(person.phones).map((phone) => ({
      source: contact.source,
      contact_id: contact.contactId,
      person_id: contact.personId,
      number: phone.number,
      e164: phone.e164,
      raw_number: phone.rawNumber,
      type: phone.type,
      status: phone.status,
      dnc_status: phone.dncStatus,
      confidence: phone.confidence,
      position: phone.position,
      attempt_id: contact.attemptId,
      run_id: contact.runId,
      asked_at: contact.askedAt,
    })),
  );
  await sql`
    insert into contact_phones as p (source, contact_id, person_id, number, e164, raw_number, type, status, dnc_status, confidence, position,
      origin, attempt_id, run_id, delivery_id, asked_at)
    select distinct on (source, contact_id, number) source, contact_id, person_id, number, e164, raw_number, type, status, dnc_status,
      confidence, position, ${delivery.origin}, attempt_id, run_id, ${delivery.deliveryId}, asked_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (source text, contact_id text, person_id text, number text, e164 text, raw_number text,
      type text, status text, dnc_status text, confidence text, position int, attempt_id text, run_id text, asked_at timestamptz)
    order by source, contact_id, number, asked_at desc
    on conflict (source, contact_id, number) do update set person_id = excluded.person_id, e164 = excluded.e164, raw_number = excluded.raw_number,
      type = coalesce(excluded.type, p.type), status = excluded.status, dnc_status = coalesce(excluded.dnc_status, p.dnc_status),
      confidence = excluded.confidence, position = excluded.position, origin = excluded.origin, attempt_id = excluded.attempt_id,
      run_id = excluded.run_id, delivery_id = excluded.delivery_id, asked_at = excluded.asked_at
    where p.asked_at <= excluded.asked_at
  `.execute(transaction);
  await chooseBest(
    transaction,
    written.map(({ contact }) => contact),
  );
  await recordMissing(
    transaction,
    given.filter(({ person }) => person.phones.length === 0).map(({ contact }) => contact),
    delivery.origin === 'reveal' ? 'phone' : 'waterfall_phone',
  );
}

/** Puts the best of the numbers that the newest answer gave for a contact's person into the contact. */
export async function chooseBest(
  transaction: Transaction<Tables>,
  contacts: readonly { readonly source: string; readonly contactId: string }[],
): Promise<void> {
  if (contacts.length === 0) return;
  const known = await sql<Phone & { source: string; contactId: string; personId: string }>`
    select p.source, p.contact_id as "contactId", p.person_id as "personId", number, e164, raw_number as "rawNumber", type, status, dnc_status as "dncStatus",
      confidence, position
    from contact_phones p
    join (select distinct * from unnest(${contacts.map(({ source }) => source)}::text[], ${contacts.map(({ contactId }) => contactId)}::text[])) as g (source, contact_id)
      on g.source = p.source and g.contact_id = p.contact_id
    join enriched_contacts c on c.source = p.source and c.contact_id = p.contact_id and c.person_id = p.person_id
    where p.asked_at = (select max(asked_at) from contact_phones n where n.source = p.source and n.contact_id = p.contact_id
      and n.person_id = p.person_id)
  `.execute(transaction);
  const byContact = new Map<string, (typeof known.rows)[number][]>();
  for (const phone of known.rows) {
    const key = JSON.stringify([phone.source, phone.contactId]);
    const numbers = byContact.get(key);
    if (numbers) numbers.push(phone);
    else byContact.set(key, [phone]);
  }
  if (byContact.size === 0) return;
  const chosen = [...byContact.values()].map((phones) => ({
    source: phones[0]!.source,
    contactId: phones[0]!.contactId,
    personId: phones[0]!.personId,
    best: bestPhone(phones)?.number ?? null,
  }));
  // Looks again whose the contact is: where there was none at first, nobody's lock has kept an answer from making it somebody else's.
  await sql`
    update enriched_contacts c set phone = chosen.phone
    from unnest(${chosen.map((each) => each.source)}::text[], ${chosen.map((each) => each.contactId)}::text[],
      ${chosen.map((each) => each.personId)}::text[], ${chosen.map((each) => each.best)}::text[]) as chosen (source, contact_id, person_id, phone)
    where c.source = chosen.source and c.contact_id = chosen.contact_id and c.person_id = chosen.person_id and c.phone is distinct from chosen.phone
  `.execute(transaction);
}

/** No number came for these people: that is a miss, and misses have a clock of their own. */
async function recordMissing(
  transaction: Transaction<Tables>,
  contacts: readonly LateContact[],
  fieldGroup: string,
): Promise<void> {
  if (contacts.length === 0) return;
  await sql`
    update lookup_history m set outcome = 'not_found'
    from (
      select distinct identity_key, r.run_id from run_rows r, unnest(r.keys) as identity_key
      where (r.run_id, r.row_number) in (
        select * from unnest(${contacts.map((contact) => contact.runId)}::text[], ${contacts.map((contact) => contact.rowNumber)}::int[]))
    ) missing
    where m.identity_key = missing.identity_key and m.run_id = missing.run_id and m.field_group = ${fieldGroup}
  `.execute(transaction);
}

/**
 * Puts an address from a waterfall into the contact where it is better than what is there, nothing newer is there, and its run is
 * not undone.
 */
export async function writeLateEmails(
  transaction: Transaction<Tables>,
  given: readonly Given<{
    readonly emails: readonly { readonly email: string; readonly status: string | undefined }[];
  }>[],
): Promise<void> {
  for (const { contact, person } of given) {
    if (contact.undone) continue;
    for (const offered of person.emails) {
      const email = parseEmail(offered.email);
      if (email === undefined) continue;
      const current = await sql<{ email: string | null; email_status: string | null }>`
        select email, email_status from enriched_contacts
        where source = ${contact.source} and contact_id = ${contact.contactId} and person_id = ${contact.personId} and enriched_at <= ${contact.askedAt}::timestamptz
        for update
      `.execute(transaction);
      const row = current.rows[0];
      if (
        !row ||
        !isBetterEmail(offered.status, row.email === null ? null : (row.email_status ?? 'unverified'))
      )
        continue;
      await sql`
        update enriched_contacts set email = ${email}, email_status = ${offered.status ?? null}
        where source = ${contact.source} and contact_id = ${contact.contactId}
      `.execute(transaction);
    }
  }
}
