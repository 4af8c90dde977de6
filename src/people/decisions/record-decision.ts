import { sql, type Transaction } from 'kysely';
import { matchKeysOfIdentity } from '../../domain/identity/match-keys.ts';
import type { RecordedVerdict } from '../../domain/identity/verdicts.ts';
import { UsageProblem, type Note } from '../../domain/problem.ts';
import type { Warehouse } from '../../db/database.ts';
import { rolledBack } from '../../db/rolled-back.ts';
import type { Tables } from '../../db/schema.ts';
import { lockSuppressionsExclusive } from '../../suppression/suppression-list.ts';
import { readKeysOfPeople } from '../contacts/contacts-by-match-key.ts';
import { applyChanges, decideAffected } from '../contacts/apply-changes.ts';
import { findChanges } from '../contacts/find-changes.ts';
import { readKnownPeople } from '../known/known-people.ts';
import { keyOfId } from '../log/observation.ts';
import { recordHash } from './contact-decisions.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { readPersonId, readReviewedContact, type ReviewedContact } from './reviewed-contact.ts';

/** A decision that a contact is, or is not, a person; or the end of such a decision. */
interface Decision extends ContactKey {
  /** Id of the person at the service. */
  readonly personId: string;
  readonly verdict: RecordedVerdict;
}

export interface DecidedContact {
  /** False: the newest decision about contact and person said the same. */
  readonly isNew: boolean;
  /** Id of the person whom the contact had; null: it had none. */
  readonly personBefore: string | null;
  readonly personNow: string | null;
  /** The run that applies the decision when it ends; undefined: the decision is applied. */
  readonly openRun: string | undefined;
}

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
  return database.transaction().execute((transaction) => decideIn(transaction, decision, note));
}

/** Computes what `recordDecision` would do, without a change. @throws Problem as `recordDecision` */
export async function previewDecision(
  { database }: Warehouse,
  decision: Decision,
  note: Note,
): Promise<DecidedContact> {
  return rolledBack(database, (transaction) => decideIn(transaction, decision, note));
}

async function decideIn(
  transaction: Transaction<Tables>,
  decision: Decision,
  note: Note,
): Promise<DecidedContact> {
  // Before any other lock: transactions that write about people end first, and later ones see the decision.
  await lockSuppressionsExclusive(transaction);
  const before = await readReviewedContact(transaction, decision);
  const { service, state, openRun } = before;
  const personKey = keyOfId(decision.personId);
  const people = await readKnownPeople(transaction, service, {
    matchKeys: [],
    personKeys: [personKey, ...(state.personKey === null ? [] : [state.personKey])],
  });
  const isKnown = people.some((person) => person.personKey === personKey);
  const isNew = await append(transaction, before, decision, { personKey, isKnown }, note);
  const personBefore = await readPersonId(transaction, decision);
  if (openRun === undefined) await decide(transaction, service, decision);
  await decideAffected(
    transaction,
    { service },
    await readKeysOfPeople(transaction, service, [
      ...new Set([
        ...matchKeysOfIdentity(state.compared.identity),
        ...people.flatMap(({ matchKeys }) => matchKeys),
      ]),
    ]),
  );
  const personNow = await readPersonId(transaction, decision);
  if (decision.verdict === 'confirmed' && openRun === undefined && personNow === null)
    throw new UsageProblem('person.suppressed', 'the person or the contact is on the suppression list', {
      where: decision.personId,
      next: 'enrich suppress remove takes a person off the list; nothing was changed',
    });
  return { isNew, personBefore, personNow, openRun };
}

/** Appends a decision, unless the newest one about contact and person says the same. */
async function append(
  transaction: Transaction<Tables>,
  { service, state }: ReviewedContact,
  { source, contactId, personId, verdict }: Decision,
  { personKey, isKnown }: { readonly personKey: string; readonly isKnown: boolean },
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
    if (state.isSuppressed)
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
  const ended =
    verdict === 'confirmed'
      ? (decisions ?? []).filter((each) => each.verdict === 'confirmed' && each.personKey !== personKey)
      : [];
  const entries = [
    ...ended.map((each) => ({ personKey: each.personKey, verdict: 'withdrawn' })),
    { personKey, verdict },
  ];
  await sql`
    insert into contact_decisions
      (source, contact_id, service, person_key, verdict, record_hash, reason, decided_by)
    select ${source}, ${contactId}, ${service}, e.person_key, e.verdict, ${recordHash(state.compared.identity)},
      ${note.reason ?? null}, ${note.by}
    from unnest(${entries.map((entry) => entry.personKey)}::text[], ${entries.map((entry) => entry.verdict)}::text[])
      with ordinality as e (person_key, verdict, place)
    order by e.place
  `.execute(transaction);
  return true;
}

async function decide(transaction: Transaction<Tables>, service: string, contact: ContactKey): Promise<void> {
  const { state } = await readReviewedContact(transaction, contact);
  const changes = await findChanges(transaction, service, [state]);
  await applyChanges(transaction, { service, runId: null }, changes);
}
