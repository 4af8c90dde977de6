import { sql, type Kysely, type Transaction } from 'kysely';
import { weakReason, contestedReason, isPossible } from '../../domain/identity/decide-person.ts';
import { weigh } from '../../domain/identity/identity-evidence.ts';
import { verdictOn, type RecordedVerdict } from '../../domain/identity/verdicts.ts';
import { exportOrder } from '../../db/run-states.ts';
import type { Tables } from '../../db/schema.ts';
import { UsageProblem } from '../../domain/problem.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { Neighbourhood, type ContactState } from '../neighbourhood.ts';
import { recordHash } from './contact-decisions.ts';

const contactsPerBatch = 500;

/**
 * Finds contacts without a person that share an identifier, a shared mailbox, or name and employer with a known person,
 * and that have no decision about this person. Those of the newest export come first.
 */
export async function findWithheld(
  database: Kysely<Tables>,
  { source, limit }: { readonly source: string | undefined; readonly limit: number },
) {
  return database.transaction().execute(async (transaction) => {
    const found = [];
    for (let read = 0; found.length < limit; read += contactsPerBatch) {
      const contacts = await readUnfilled(transaction, source, read);
      const near = new Neighbourhood(transaction);
      const states = await near.readContacts(contacts);
      await near.readPeopleOf(states, true);
      await near.readContactsOf(states.flatMap((contact) => near.weakCandidates(contact)));
      for (const contact of states) {
        const { source: of, contactId, records } = contact;
        for (const person of candidatesOf(near, contact)) {
          const { runId, rowNumber } = records[0]!;
          found.push({ source: of, contact_id: contactId, ...person, run_id: runId, row_number: rowNumber });
        }
      }
      if (contacts.length < contactsPerBatch) break;
    }
    return found.slice(0, limit);
  });
}

/** Reads contacts that may have lost or not got a person whom an answer has named. */
async function readUnfilled(
  transaction: Transaction<Tables>,
  source: string | undefined,
  after: number,
): Promise<readonly ContactKey[]> {
  const { rows } = await sql<ContactKey>`
    select source, "contactId"
    from (
      select distinct on (k.source, k.contact_id) k.source, k.contact_id as "contactId", k.keys, k.row_number,
        k.is_blocked,
        u.as_of, u.created_at
      from contact_records k
      join runs u on u.run_id = k.run_id and u.undone_at is null
      where k.source = coalesce(${source ?? null}::text, k.source)
        and not exists (
          select from contact_matches m
          where m.source = k.source and m.contact_id = k.contact_id and m.valid_to is null)
      order by k.source, k.contact_id, ${sql.raw(exportOrder('u'))} desc
    ) newest
    where keys <> '{}' and not is_blocked
    order by as_of desc, created_at desc, row_number
    limit ${contactsPerBatch} offset ${after}
  `.execute(transaction);
  return rows;
}

/** Finds known people who could be a contact, and whom the contact does not have. */
function candidatesOf(near: Neighbourhood, contact: ContactState) {
  const [record] = contact.records;
  if (!record || contact.service === undefined) return [];
  const { decision, people: compared } = near.decideBy(contact, record);
  const refused = new Map(
    decision.kind === 'refused'
      ? decision.indexes.map((index) => [compared[index]!.personKey, decision.reason])
      : [],
  );
  return near.candidatesOf(contact, record, contact.service, true).flatMap((person) => {
    const { personId } = person.compared;
    if (personId === undefined || person.personKey === contact.match?.personKey) return [];
    if (verdictOn(contact.verdicts, person.compared) !== undefined) return [];
    const fit = weigh(record.compared, person.compared);
    const weakDoubt = record.askedAt === null ? weakReason : contestedReason;
    const doubt = fit.strength === 'none' ? fit.reason : weakDoubt;
    if (!isPossible(fit) && !(fit.strength === 'none' && fit.sharesIdentifier)) return [];
    return { person_id: personId, reason: refused.get(person.personKey) ?? doubt };
  });
}

/**
 * Reads a contact as the newest export has it.
 *
 * @throws Problem `contact.unknown`; `contact.unidentified` for a record without any identity
 */
export async function readReviewed(transaction: Transaction<Tables>, contact: ContactKey) {
  const near = new Neighbourhood(transaction);
  const [state] = await near.readContacts([contact]);
  if (state?.service === undefined)
    throw new UsageProblem('contact.unknown', 'the warehouse does not know this record', {
      where: `${contact.source} ${contact.contactId}`,
      next: 'check the source and the id; or enrich an export that has the record',
    });
  if (state.records[0]!.compared.keys.length === 0 && !state.match)
    throw new UsageProblem('contact.unidentified', 'the warehouse has no cells that identify this record', {
      where: `${contact.source} ${contact.contactId}`,
      next: 'enrich an export in which the record has an address, a profile, an id, or a name and an employer',
    });
  await near.readPeopleOf([state], true);
  return { near, state, service: state.service };
}

/** The id of the person whom a contact has; null: it has none. */
export async function readPersonId(
  database: Kysely<Tables>,
  { source, contactId }: ContactKey,
): Promise<string | null> {
  const { rows } = await sql<{ person_id: string | null }>`
    select person_id from enriched_contacts where source = ${source} and contact_id = ${contactId}
  `.execute(database);
  return rows[0]?.person_id ?? null;
}

/** What somebody who decides about a contact needs to know, without personal data. */
export type Review = Awaited<ReturnType<typeof readReview>>;

interface MadeDecision {
  /** Id of the person at the service. */
  readonly person_id: string;
  readonly verdict: RecordedVerdict;
  readonly reason: string | null;
  readonly decided_by: string;
  readonly decided_at: Date;
}

/** @throws Problem `contact.unknown`, `contact.unidentified` */
export async function readReview(database: Kysely<Tables>, contact: ContactKey) {
  return database.transaction().execute(async (transaction) => {
    const { near, state, service } = await readReviewed(transaction, contact);
    await near.readContactsOf(near.weakCandidates(state));
    const hash = recordHash(state.records[0]!.compared.identity);
    const { rows } = await sql<MadeDecision & { readonly record_hash: string; readonly is_newest: boolean }>`
      select coalesce(p.person_id, regexp_replace(d.person_key, '^person:', '')) as person_id, d.verdict, d.reason,
        d.decided_by, d.decided_at, d.record_hash,
        d.decision_id = max(d.decision_id) over (partition by d.person_key) as is_newest
      from contact_decisions d
      left join people p on p.service = d.service and p.person_key = d.person_key
      where d.source = ${contact.source} and d.contact_id = ${contact.contactId} and d.service = ${service}
      order by d.decision_id desc
    `.execute(transaction);
    return {
      source: contact.source,
      contact_id: contact.contactId,
      /** Id of the person whom the contact has; null: it has none. */
      person_id: await readPersonId(transaction, contact),
      evidence: state.match?.evidence ?? null,
      candidates: candidatesOf(near, state),
      /** The newest first. A decision holds while the record identifies the contact in the same way. */
      decisions: rows.map(({ record_hash: recorded, is_newest: isNewest, ...decision }) => ({
        ...decision,
        holds: isNewest && recorded === hash && decision.verdict !== 'withdrawn',
      })),
    };
  });
}
