import { sql, type Transaction } from 'kysely';
import type { ContactDecision, RecordedVerdict } from '../../domain/identity/verdicts.ts';
import { UsageProblem, type Note } from '../../domain/problem.ts';
import { type Warehouse, rolledBack } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { digestQueued, inDigest, lockDigest } from '../digest.ts';
import { queueContacts, queuePeople } from '../digest-queue.ts';
import type { ContactState } from '../neighbourhood.ts';
import { keyOfId } from '../observation.ts';
import { recordHash } from './contact-decisions.ts';
import { readPersonId, readReviewed } from './find-withheld.ts';

/** A decision that a contact is, or is not, a person; or the end of such a decision. */
interface Decision extends ContactKey {
  /** Id of the person at the service. */
  readonly personId: string;
  readonly verdict: RecordedVerdict;
}

export type DecidedContact = Awaited<ReturnType<typeof decideIn>>;

/**
 * Records a decision, and decides about the contact and about contacts near it. A confirmation withdraws the
 * confirmation of another person.
 *
 * @throws Problem `contact.unknown`, `contact.unidentified`, `contact.suppressed`, `person.unknown`,
 *   `person.suppressed`, `decision.unknown`
 */
export async function recordDecision(
  { database }: Warehouse,
  decision: Decision,
  note: Note,
): Promise<DecidedContact> {
  return inDigest(database, (transaction) => decideIn(transaction, database, decision, note));
}

/** Computes what `recordDecision` would do, without a change. @throws Problem as `recordDecision` */
export async function previewDecision(
  { database }: Warehouse,
  decision: Decision,
  note: Note,
): Promise<DecidedContact> {
  return rolledBack(database, async (transaction) => {
    await lockDigest(transaction);
    return decideIn(transaction, database, decision, note);
  });
}

async function decideIn(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  decision: Decision,
  note: Note,
) {
  const { state, service } = await readReviewed(transaction, decision);
  const personKey = keyOfId(decision.personId);
  const { rows } = await sql`
    select from people where service = ${service} and person_key = ${personKey}
  `.execute(transaction);
  const known = { personKey, service, isKnown: rows.length > 0 };
  const isNew = await append(transaction, state, decision, known, note);
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
    /** False: the newest decision about contact and person said the same. */
    isNew,
    /** Id of the person whom the contact had; null: it had none. */
    personBefore,
    personNow,
  };
}

/** Appends a decision, unless the newest one about contact and person says the same. */
async function append(
  transaction: Transaction<Tables>,
  state: ContactState,
  { source, contactId, personId, verdict }: Decision,
  { personKey, service, isKnown }: { personKey: string; service: string; isKnown: boolean },
  note: Note,
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
      ${recordHash(state.records[0]!.compared.identity)},
      ${note.reason ?? null}, ${note.by}
    from unnest(${[...ended, personKey]}::text[], ${[...ended.map(() => 'withdrawn'), verdict]}::text[])
      with ordinality as e (person_key, verdict, place)
    order by e.place
  `.execute(transaction);
  return true;
}
