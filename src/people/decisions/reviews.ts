import { sql, type Kysely, type Transaction } from 'kysely';
import {
  weakEvidenceReason,
  competingContactReason,
  isPossibleFit,
} from '../../domain/identity/decide-person.ts';
import { weighFit } from '../../domain/identity/identity-evidence.ts';
import {
  verdictOnPerson,
  type ContactDecision,
  type RecordedVerdict,
} from '../../domain/identity/verdicts.ts';
import { UsageProblem, type DecisionNote } from '../../domain/problem.ts';
import { type Warehouse, inRolledBackTransaction } from '../../db/database.ts';
import { exportSortKey } from '../../db/run-states.ts';
import type { Tables } from '../../db/schema.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { digestQueued, withDigestLocked, lockDigest } from '../digest.ts';
import { queueContacts, queuePeople } from '../digest-queue.ts';
import { Neighbourhood, type ContactState } from '../neighbourhood.ts';
import { personKeyOfId } from '../observation.ts';
import { identityHashOfRecord } from './contact-decisions.ts';

const contactsPerBatch = 500;

/**
 * Finds contacts that need a review: they have no person, but share an identifier, a shared mailbox, or name and
 * employer with a known person, and the operator has not decided about this person. Contacts of the newest export come
 * first.
 */
export async function findContactsWithoutPerson(
  database: Kysely<Tables>,
  { source, limit }: { readonly source: string | undefined; readonly limit: number },
) {
  return database.transaction().execute(async (transaction) => {
    const found = [];
    for (let read = 0; found.length < limit; read += contactsPerBatch) {
      const contacts = await readContactsWithoutPerson(transaction, source, read);
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

/**
 * Reads one batch of contacts with identity keys and without a person; the newest export comes first.
 *
 * @param after number of contacts to skip
 */
async function readContactsWithoutPerson(
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
      order by k.source, k.contact_id, ${sql.raw(exportSortKey('u'))} desc
    ) newest
    where keys <> '{}' and not is_blocked
    order by as_of desc, created_at desc, row_number
    limit ${contactsPerBatch} offset ${after}
  `.execute(transaction);
  return rows;
}

/**
 * Finds known people who could be a contact but are not matched to this contact: each with the reason why it is not.
 * People without an id, and people that the operator has decided about, are left out.
 */
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
    if (verdictOnPerson(contact.verdicts, person.compared) !== undefined) return [];
    const fit = weighFit(record.compared, person.compared);
    const weakDoubt = record.askedAt === null ? weakEvidenceReason : competingContactReason;
    const doubt = fit.strength === 'none' ? fit.reason : weakDoubt;
    if (!isPossibleFit(fit) && !(fit.strength === 'none' && fit.sharesIdentifier)) return [];
    return { person_id: personId, reason: refused.get(person.personKey) ?? doubt };
  });
}

/**
 * Reads the record of a contact in the newest export. Also reads the people who could be the contact, by name too.
 *
 * @throws Problem `contact.unknown`; `contact.unidentified` for a record without name and identifiers
 */
async function readReviewed(transaction: Transaction<Tables>, contact: ContactKey) {
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

/** The id of a contact's person; null if the contact has no person. */
async function readPersonId(
  database: Kysely<Tables>,
  { source, contactId }: ContactKey,
): Promise<string | null> {
  const { rows } = await sql<{ person_id: string | null }>`
    select person_id from enriched_contacts where source = ${source} and contact_id = ${contactId}
  `.execute(database);
  return rows[0]?.person_id ?? null;
}

/** What the operator needs to know to decide about a contact, without personal data. */
export type Review = Awaited<ReturnType<typeof readReview>>;

interface MadeDecision {
  /** Id of the person at the service. */
  readonly person_id: string;
  readonly verdict: RecordedVerdict;
  readonly reason: string | null;
  readonly decided_by: string;
  readonly decided_at: Date;
}

/**
 * Reads what the operator needs to know to decide about a contact.
 *
 * @throws Problem `contact.unknown`, `contact.unidentified`
 */
export async function readReview(database: Kysely<Tables>, contact: ContactKey) {
  return database.transaction().execute(async (transaction) => {
    const { near, state, service } = await readReviewed(transaction, contact);
    await near.readContactsOf(near.weakCandidates(state));
    const hash = identityHashOfRecord(state.records[0]!.compared.identity);
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
      /** Id of the contact's person; null if the contact has no person. */
      person_id: await readPersonId(transaction, contact),
      evidence: state.match?.evidence ?? null,
      candidates: candidatesOf(near, state),
      /**
       * The operator's decisions, the newest first. A decision holds while the record has the same name and
       * identifiers.
       */
      decisions: rows.map(({ record_hash: recorded, is_newest: isNewest, ...decision }) => ({
        ...decision,
        holds: isNewest && recorded === hash && decision.verdict !== 'withdrawn',
      })),
    };
  });
}

/** An operator's decision: the contact is this person, is not this person, or an earlier decision is withdrawn. */
interface Decision extends ContactKey {
  /** Id of the person at the service. */
  readonly personId: string;
  readonly verdict: RecordedVerdict;
}

export type DecidedContact = Awaited<ReturnType<typeof decideInTransaction>>;

/**
 * Records an operator's decision and queues the contact and its competitors for a new match. A confirmation withdraws
 * an earlier confirmation of another person.
 *
 * @throws Problem `contact.unknown`, `contact.unidentified`, `contact.suppressed`, `person.unknown`,
 *   `person.suppressed`, `decision.unknown`
 */
export async function recordDecision(
  { database }: Warehouse,
  decision: Decision,
  note: DecisionNote,
): Promise<DecidedContact> {
  return withDigestLocked(database, (transaction) =>
    decideInTransaction(transaction, database, decision, note),
  );
}

/** Previews {@link recordDecision} and changes nothing. @throws Problem as `recordDecision` */
export async function previewDecision(
  { database }: Warehouse,
  decision: Decision,
  note: DecisionNote,
): Promise<DecidedContact> {
  return inRolledBackTransaction(database, async (transaction) => {
    await lockDigest(transaction);
    return decideInTransaction(transaction, database, decision, note);
  });
}

/** Records a decision, digests it in the same transaction, and reads the contact's person before and after. */
async function decideInTransaction(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  decision: Decision,
  note: DecisionNote,
) {
  const { state, service } = await readReviewed(transaction, decision);
  const personKey = personKeyOfId(decision.personId);
  const { rows } = await sql`
    select from people where service = ${service} and person_key = ${personKey}
  `.execute(transaction);
  const known = { personKey, service, isKnown: rows.length > 0 };
  const isNew = await storeDecision(transaction, state, decision, known, note);
  const personBefore = await readPersonId(transaction, decision);
  await queueContacts(transaction, [decision]);
  await queuePeople(transaction, [{ service, personKey }, ...(state.match ? [state.match] : [])]);
  await digestQueued(transaction, database);
  const personNow = await readPersonId(transaction, decision);
  if (decision.verdict === 'confirmed' && personNow === null)
    throw new UsageProblem('person.suppressed', 'the person or the contact is on the suppression list', {
      where: decision.personId,
      next: 'enrich suppress remove takes a person off the list; nothing was changed',
    });
  return {
    /** False if the newest decision about this contact and person was the same. */
    isNew,
    /** Id of the contact's person before the decision; null if it had none. */
    personBefore,
    personNow,
  };
}

/** Stores a decision, unless it repeats the newest decision about this contact and person. */
async function storeDecision(
  transaction: Transaction<Tables>,
  state: ContactState,
  { source, contactId, personId, verdict }: Decision,
  { personKey, service, isKnown }: { personKey: string; service: string; isKnown: boolean },
  note: DecisionNote,
): Promise<boolean> {
  const { decisions, verdicts } = state;
  if (verdict === 'withdrawn') {
    if (!decisions?.some((each) => each.personKey === personKey))
      throw new UsageProblem('decision.unknown', 'there is no decision about this contact and this person', {
        where: personId,
        next: `enrich review list --contact ${source}/${contactId} lists the decisions`,
      });
  } else {
    if (!isKnown)
      throw new UsageProblem('person.unknown', 'no answer has named a person with this id', {
        where: personId,
        next: 'write the id of a person that enrich review list or enriched_contacts has',
      });
    if (state.records[0]!.isBlocked)
      throw new UsageProblem(
        'contact.suppressed',
        'this contact can have no person: its newest row is suppressed, or rows with its id name different people',
        {
          where: `${source} ${contactId}`,
          next: 'correct the opt-out or the record ids in the CRM, and run its new export',
        },
      );
    if (verdicts.get(personKey) === verdict) return false;
  }
  const isEnded = (each: ContactDecision): boolean =>
    verdict === 'confirmed' && each.verdict === 'confirmed' && each.personKey !== personKey;
  const ended = (decisions ?? []).filter(isEnded).map((each) => each.personKey);
  await sql`
    insert into contact_decisions
      (source, contact_id, service, person_key, verdict, record_hash, reason, decided_by)
    select ${source}, ${contactId}, ${service}, e.person_key, e.verdict,
      ${identityHashOfRecord(state.records[0]!.compared.identity)},
      ${note.reason ?? null}, ${note.by}
    from unnest(${[...ended, personKey]}::text[], ${[...ended.map(() => 'withdrawn'), verdict]}::text[])
      with ordinality as e (person_key, verdict, place)
    order by e.place
  `.execute(transaction);
  return true;
}
