import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Warehouse } from '../../../src/db/database.ts';
import { weakEvidence } from '../../../src/domain/identity/identity-evidence.ts';
import type { Store } from '../../../src/sandbox/store.ts';

/**
 * Checks promise 6: paid data is in the log and in each contact that it belongs to. The expectation comes from the
 * sandbox's own log and from the accepted matches.
 */
export async function expectValueKept({
  warehouse,
  sandbox,
}: {
  readonly warehouse: Warehouse;
  readonly sandbox: { readonly log: Pick<Store, 'lateResults'> };
}): Promise<void> {
  const rowsOf = async <Row>(statement: string): Promise<Row[]> =>
    (await warehouse.pool.query(statement)).rows as Row[];

  const unlogged = await rowsOf(`
    select p.attempt_id, p.row_number
    from enrichment.attempt_people p join enrichment.run_rows r using (run_id, row_number)
    join enrichment.runs u using (run_id)
    join enrichment.attempts a using (attempt_id)
    where p.outcome = 'enriched' and r.outcome = 'enriched' and r.contact_id !~ '^erased:'
      and u.answers_discarded_at is null and not (
      exists (select 1 from enrichment.observations o
        where o.attempt_id = p.attempt_id and o.kind = 'answer' and o.person_id is not distinct from p.person_id)
      -- The match names the newest call for the contact.
      and exists (select 1 from enrichment.contact_matches m join enrichment.attempts newest using (attempt_id)
        where m.source = u.source and m.contact_id = r.contact_id and newest.admitted_at >= a.admitted_at))`);
  expect(unlogged).toEqual([]);

  expect(await readWithheld(warehouse)).toEqual([]);

  // Late results: each phone number and e-mail that the service delivered for an accepted person.
  const accepted = await rowsOf<{ request_id: string; person_id: string }>(`
    select distinct a.request_id, p.person_id
    from enrichment.attempts a
    join enrichment.attempt_people p using (attempt_id)
    join enrichment.runs r on r.run_id = a.run_id and r.undone_at is null
    join enrichment.enriched_contacts c on c.person_id = p.person_id
    where p.outcome = 'enriched' and a.request_id is not null
      and not exists (select 1 from enrichment.webhook_deliveries d
        where d.attempt_id = a.attempt_id and d.status = 'received')`);
  const known = await rowsOf<{ fact: string }>(`
    select person_id || ' ' || number as fact from enrichment.person_phones
    union select person_id || ' ' || lower(email) from enrichment.person_emails`);
  const facts = new Set(known.map(({ fact }) => fact));
  const isAccepted = new Set(accepted.map((row) => `${row.request_id} ${row.person_id}`));
  const missing = sandbox.log
    .lateResults()
    .filter(({ delivered, rule }) => delivered && rule.body === undefined)
    .flatMap(({ requestId, body }) =>
      deliveredFacts(body).filter(({ id }) => isAccepted.has(`${requestId} ${id}`)),
    )
    .filter(({ id, value }) => !facts.has(`${id} ${value}`));
  expect(missing).toEqual([]);
}

/**
 * Contacts without the person that the newest call accepted for them, or for another row with the same e-mail and name.
 * Leaves out contacts about which the identity rule decides later: contacts with other cells in another export, and
 * contacts with weak evidence that also fitted a second person later.
 */
const withheldContacts = `
  with accepted as (
    select distinct on (source, r.contact_id) runs.source, r.contact_id, r.row_number,
      p.run_id, p.person_id, p.evidence, lower(r.email) as email, lower(r.first_name) as first_name,
      lower(r.last_name) as last_name
    from enrichment.attempt_people p
    join enrichment.attempts a using (attempt_id)
    join enrichment.run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
    join enrichment.runs on runs.run_id = p.run_id and runs.undone_at is null
    where p.outcome = 'enriched' and r.outcome = 'enriched' and p.person_id is not null
    order by source, r.contact_id, a.admitted_at desc
  ), expected as (
    select source, contact_id, run_id, person_id, evidence from accepted
    union
    select a.source, d.contact_id, a.run_id, a.person_id, a.evidence
    from accepted a
    join enrichment.runs on runs.run_id = a.run_id and runs.status = 'finished'
    join enrichment.run_rows d on d.run_id = a.run_id and d.outcome = 'duplicate' and lower(d.email) = a.email
      and lower(d.first_name) = a.first_name and lower(d.last_name) = a.last_name
    where a.evidence = 'email'
  )
  select e.source, e.contact_id, e.person_id, c.person_id as has
  from expected e
  left join enrichment.enriched_contacts c on c.source = e.source and c.contact_id = e.contact_id
  where c.person_id is distinct from e.person_id
    and (select count(*) from enrichment_internal.contact_records r
      where r.source = e.source and r.contact_id = e.contact_id) <= 1
    and not (e.evidence = '${weakEvidence}' and (
      select m.valid_to is not null from enrichment.contact_matches m
      where m.source = e.source and m.contact_id = e.contact_id
      order by m.match_id desc limit 1))
    and not exists (
      select from enrichment.run_rows own
      join enrichment.run_rows other on other.contact_id = own.contact_id and other.run_id <> own.run_id
      join enrichment.runs on runs.run_id = other.run_id
      where own.run_id = e.run_id
        and own.contact_id = e.contact_id
        and runs.source = e.source
        and row(other.email, other.first_name, other.last_name)
          is distinct from row(own.email, own.first_name, own.last_name))`;

function readWithheld({ database }: Warehouse): Promise<readonly unknown[]> {
  return database.transaction().execute(async (transaction) => {
    // Without statistics PostgreSQL would compare each accepted row with each duplicate: hours for 20,000 rows.
    await sql`set local enable_nestloop = off`.execute(transaction);
    return (await sql.raw(withheldContacts).execute(transaction)).rows;
  });
}

/** Returns the phone numbers and e-mails in a delivered body, by the id of their person. */
function deliveredFacts(body: string): readonly { readonly id: string; readonly value: string }[] {
  const { people = [] } = JSON.parse(body) as { people?: readonly DeliveredPerson[] };
  return people.flatMap(({ id, phone_numbers: phones = [], emails = [] }) => [
    ...phones.map((phone) => ({ id, value: phone.sanitized_number })),
    ...emails.map(({ email }) => ({ id, value: email.toLowerCase() })),
  ]);
}

interface DeliveredPerson {
  readonly id: string;
  readonly phone_numbers?: readonly { readonly sanitized_number: string }[];
  readonly emails?: readonly { readonly email: string }[];
}
