import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { project, projectCompanies } from '../../people/project.ts';
import { unnestContacts, unnestRows } from '../../keys/unnest-keys.ts';
import { isOfPeople } from './find-people.ts';
import type { PersonTraces } from './person-traces.ts';

/** Companies in a person's observations. */
interface HeldCompanies {
  readonly service: string;
  readonly companies: readonly string[] | null;
  readonly facts: readonly Buffer[] | null;
}

/**
 * Removes the person from the log and projects the contacts again. The change feed shows only that contacts were
 * deleted. A contact that belonged to the person once and belongs to another person now stays.
 */
export async function eraseFromLog(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  const held = await eraseObservations(transaction, traces);
  await eraseRecords(transaction, traces);
  await eraseMatches(transaction, traces);
  for (const { service, companies, facts } of held) {
    const people = traces.people.filter((person) => person.service === service);
    await project(transaction, {
      service,
      people: people.map(({ personKey }) => personKey),
      contacts: traces.contacts,
    });
    const described = (companies ?? []).filter((key) => !key.startsWith('name:'));
    await projectCompanies(transaction, service, described);
    await sql`
      delete from organization_facts f
      where facts_hash = any(${facts ?? []}::bytea[])
        and not exists (
          select from observations o
          where o.service = ${service} and o.organization_key = any(${companies ?? []}::text[])
            and o.organization_facts = f.facts_hash)
    `.execute(transaction);
  }
}

async function eraseObservations(
  transaction: Transaction<Tables>,
  { people }: PersonTraces,
): Promise<readonly HeldCompanies[]> {
  const { rows } = await sql<HeldCompanies>`
    select service,
      array_agg(distinct organization_key) filter (where organization_key is not null) as companies,
      array_agg(distinct organization_facts) filter (where organization_facts is not null) as facts
    from observations where ${isOfPeople(people)} group by service
  `.execute(transaction);
  await sql`delete from observations where ${isOfPeople(people)}`.execute(transaction);
  return rows;
}

/** In two statements, because `or` reads the whole log. */
async function eraseRecords(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  await sql`delete from contact_records where ${isOfRows(traces)}`.execute(transaction);
  await sql`delete from contact_records where ${isOfContacts(traces.contacts)}`.execute(transaction);
}

async function eraseMatches(transaction: Transaction<Tables>, traces: PersonTraces): Promise<void> {
  const { people, contacts } = traces;
  // Not `or`, which reads the whole log.
  const { rows: matched } = await sql<ContactKey>`
    select source, contact_id as "contactId" from contact_matches where ${isOfPeople(people)}
    union
    select source, contact_id from contact_matches where ${isOfRows(traces)}
  `.execute(transaction);
  await sql`delete from contact_matches where ${isOfContacts(contacts)}`.execute(transaction);
  await sql`delete from contact_matches where ${isOfPeople(people)}`.execute(transaction);
  await sql`
    update contact_matches set person_keys = null
    where person_keys && ${people.map(({ personKey }) => personKey)}::text[]
  `.execute(transaction);
  // A contact that their row took a former person from does not get that person back.
  await sql`
    update contact_matches set row_number = 0, evidence = 'erased'
    where ${isOfRows(traces)} and person_key is null
  `.execute(transaction);
  await sql`delete from contact_matches where ${isOfRows(traces)}`.execute(transaction);
  // The person of a contact can be withdrawn by the run of a rival. Without a person, the entry names only the record.
  await sql`
    delete from contact_matches m
    where ${isOfContacts(matched)} and person_key is null
      and not exists (
        select from contact_matches former
        where former.source = m.source and former.contact_id = m.contact_id and former.person_key is not null)
  `.execute(transaction);
}

/** Condition on a table with the columns `run_id` and `row_number`. */
function isOfRows({ rows }: PersonTraces) {
  return sql`(run_id, row_number) in (select * from ${unnestRows(rows)})`;
}

/** Condition on a table with the columns `source` and `contact_id`. */
function isOfContacts(contacts: readonly ContactKey[]) {
  return sql`(source, contact_id) in (select * from ${unnestContacts(contacts)})`;
}
