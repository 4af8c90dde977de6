import { isDeepStrictEqual } from 'node:util';
import { sql, type Kysely } from 'kysely';
import { contradictionOf, decidePerson, contestedReason } from '../../domain/identity/decide-person.ts';
import { isOnePerson, isWeak, type Evidence } from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfIdentity, matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { rejectedReason } from '../../domain/identity/verdicts.ts';
import type { Tables } from '../../db/schema.ts';
import { contactKey } from '../../keys/contact-key.ts';
import { confirmedKeys } from '../decisions/contact-decisions.ts';
import { ByMatchKey, readUndonePeople, type KnownPerson } from '../known/known-people.ts';
import type { ContactState } from './contact-states.ts';
import { letTimersRun, readNeighbourhood, type Neighbourhood } from './neighbourhood.ts';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity.ts';

/** A contact gets a person. */
export interface ContactFill {
  readonly kind: 'fill';
  readonly contact: ContactState;
  readonly person: KnownPerson;
  readonly evidence: Evidence;
  readonly isUndone: boolean;
  /** The contact has the person already. */
  readonly isSamePerson: boolean;
}

/** How a contact has to change, so that it is the person whom the rule gives it. */
export type ContactChange =
  | ContactFill
  | { readonly kind: 'withdraw'; readonly contact: ContactState; readonly reason: string }
  /** The contact stays the person; its new cells are recorded. */
  | { readonly kind: 'keep'; readonly contact: ContactState }
  /** A contact that has no person gets none: several people fit, or those who share an identifier contradict it. */
  | {
      readonly kind: 'refuse';
      readonly contact: ContactState;
      readonly reason: string;
      readonly isContradicted: boolean;
    };

/** Why a contact loses its person where it could be another one. */
export const anotherFits = 'another person fits better';

/** Why a contact loses its person whom only a decision gave it. */
const endedReason = 'the decision that confirmed the person has ended';

/**
 * Decides which people contacts are, by everything that the warehouse knows.
 *
 * @param beside.arrived people of an answer that is not recorded yet
 * @param beside.withUndone whether contacts without a person get people by what only undone runs know
 * @returns the contacts that change
 */
export async function findChanges(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
  beside: { readonly arrived?: readonly KnownPerson[]; readonly withUndone?: boolean } = {},
): Promise<readonly ContactChange[]> {
  if (contacts.length === 0) return [];
  const nearby = await readNeighbourhood(database, service, contacts, beside.arrived ?? []);
  const changes: ContactChange[] = [];
  for (const contact of contacts) {
    await letTimersRun();
    const change = withoutForbidden(changeOf(contact, nearby));
    if (change) changes.push(change);
  }
  if (beside.withUndone !== true) return changes;
  const isFinal = (change: ContactChange): boolean => change.kind !== 'refuse' || !change.isContradicted;
  const decided = new Set(changes.filter(isFinal).map(({ contact }) => contact));
  const open = contacts.filter((contact) => contact.personKey === null && !decided.has(contact));
  const fills = await fillFromUndone(database, service, open);
  const identified = new Set(fills.map(({ contact }) => contact));
  const rest = open.filter((contact) => !identified.has(contact));
  const made = [...fills, ...(await fillAnswered(database, service, rest))];
  const filled = new Set(made.map(({ contact }) => contact));
  return [...changes.filter(({ contact }) => !filled.has(contact)), ...made];
}

function withoutForbidden(change: ContactChange | undefined): ContactChange | undefined {
  return change?.kind === 'fill' && change.contact.isSuppressed ? withoutFill(change)[0] : change;
}

/** What is left of a decision if its contact may not get the person: the contact loses another person. */
export function withoutFill({ contact, isSamePerson }: ContactFill): ContactChange[] {
  return isSamePerson || contact.personKey === null
    ? []
    : [{ kind: 'withdraw', contact, reason: anotherFits }];
}

function changeOf(contact: ContactState, nearby: Neighbourhood): ContactChange | undefined {
  const { decision, people, rejected } = nearby.decide(contact);
  const current = contact.personKey === null ? undefined : nearby.byKey.get(contact.personKey);
  if (decision.kind === 'person') {
    const { evidence } = decision;
    const chosen = people[decision.index]!;
    // A confirmation names an id.
    const accepted = people.filter(({ personKey }) => !rejected.has(personKey));
    const person = evidence === 'confirmed' ? chosen : orOwnRecord(contact, chosen, accepted);
    return toPerson(contact, person, evidence, nearby);
  }
  if (current && rejected.has(current.personKey))
    return { kind: 'withdraw', contact, reason: rejectedReason };
  if (current && contact.evidence === 'confirmed')
    return { kind: 'withdraw', contact, reason: decision.reason ?? endedReason };
  if (decision.kind === 'refused') {
    const { reason } = decision;
    if (!current) return { kind: 'refuse', contact, reason, isContradicted: false };
    const isDoubted = decision.isStrong || isWeak(contact.evidence);
    return isDoubted ? { kind: 'withdraw', contact, reason } : unlessContradicted(contact, current);
  }
  if (contact.personKey === null && !contact.wasAsked && decision.reason !== undefined)
    return { kind: 'refuse', contact, reason: decision.reason, isContradicted: true };
  if (!current) return undefined;
  return nearby.isContested(contact, current)
    ? { kind: 'withdraw', contact, reason: contestedReason }
    : unlessContradicted(contact, current);
}

function hasId({ compared }: KnownPerson): boolean {
  return compared.personId !== undefined;
}

/**
 * The contact's own record of the person without an id, if the record is newer than the person's. Without this record,
 * the undo of the newest answer with the id would give the contact an older answer than its own.
 */
function orOwnRecord(
  { source, contactId }: ContactState,
  person: KnownPerson,
  people: readonly KnownPerson[],
): KnownPerson {
  const contact = contactKey(source, contactId);
  const own = people.filter(
    (record) =>
      !hasId(record) && record.givenTo.has(contact) && isOnePerson(record.compared, person.compared),
  );
  return own.reduce((newest, record) => (record.askedAt > newest.askedAt ? record : newest), person);
}

/** The contact is this person: no change if the contact has the person already. */
function toPerson(
  contact: ContactState,
  person: KnownPerson,
  evidence: Evidence,
  nearby: Neighbourhood,
): ContactChange | undefined {
  const current = contact.personKey === null ? undefined : nearby.byKey.get(contact.personKey);
  const isCurrent = current !== undefined && isOnePerson(current.compared, person.compared);
  const isUnchanged = (contact.evidence === 'confirmed') === (evidence === 'confirmed');
  const replaces = isCurrent && hasId(current) !== hasId(person) && person.askedAt >= current.askedAt;
  if (isCurrent && isUnchanged && !replaces) return contact.isNewRow ? { kind: 'keep', contact } : undefined;
  return { kind: 'fill', contact, person, evidence, isUndone: false, isSamePerson: isCurrent };
}

/** A contact stays its person, unless new cells contradict the person. */
function unlessContradicted(contact: ContactState, current: KnownPerson): ContactChange | undefined {
  if (!contact.isNewRow) return undefined;
  const reason = contradictionOf(contact.compared.identity, current.person);
  return reason === undefined ? { kind: 'keep', contact } : { kind: 'withdraw', contact, reason };
}

/** Stored answers of undone runs were paid for: identifiers and decisions give them to contacts without a person. */
async function fillFromUndone(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<ContactChange[]> {
  const keysOf = ({ compared, verdicts }: ContactState): number[] =>
    matchKeysOfIdentityKeys([...compared.keys, ...confirmedKeys(verdicts)]);
  const people = new ByMatchKey(
    await readUndonePeople(database, service, { matchKeys: [...new Set(contacts.flatMap(keysOf))] }),
  );
  return contacts.flatMap((contact): ContactChange[] => {
    const known = people.sharing(keysOf(contact));
    const candidates = known.map(({ compared, askedAt }) => ({ person: compared, askedAt }));
    const decision = decidePerson(contact.compared, {
      candidates,
      others: () => [],
      wasAsked: false,
      verdicts: contact.verdicts,
    });
    if (decision.kind !== 'person') return [];
    const person = known[decision.index]!;
    const { evidence } = decision;
    return [{ kind: 'fill', contact, person, evidence, isUndone: true, isSamePerson: false }];
  });
}

/**
 * Weak evidence gives stored answers of undone runs to contacts that had the same person by it before the undo, with
 * the same record id and cells. Everything that is known now counts: a rival keeps the person away.
 */
async function fillAnswered(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<ContactChange[]> {
  const answered = await readAnsweredBeforeUndo(database, service, contacts);
  if (answered.size === 0) return [];
  const asked = [...answered].map(([contact, people]) => ({
    contact,
    people,
    state: { ...contact, wasAsked: true },
  }));
  const matchKeys = asked.flatMap(({ contact }) => matchKeysOfIdentity(contact.compared.identity));
  const undone = await readUndonePeople(database, service, {
    matchKeys: [...new Set(matchKeys)],
    personKeys: asked.flatMap(({ people }) => people),
  });
  const states = asked.map(({ state }) => state);
  const nearby = await readNeighbourhood(database, service, states, undone);
  return asked.flatMap(({ contact, people, state }): ContactChange[] => {
    const change = changeOf(state, nearby);
    if (change?.kind === 'refuse') return [{ ...change, contact }];
    if (change?.kind !== 'fill' || !people.includes(change.person.personKey)) return [];
    return [{ ...change, contact, isUndone: undone.includes(change.person) }];
  });
}

/**
 * Finds contacts whose record had a person by weak evidence in an undone run, of any source, with the same cells: a
 * call has asked exactly for this contact, and its answer was paid for.
 *
 * @returns the keys of these people, by contact
 */
async function readAnsweredBeforeUndo(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<ReadonlyMap<ContactState, readonly string[]>> {
  if (contacts.length === 0) return new Map();
  const { rows } = await sql<
    IdentityColumns & {
      readonly contact_id: string;
      readonly person_key: string;
      readonly evidence: string;
    }
  >`
    select k.contact_id, m.person_key, m.evidence, k.person_id, k.email,
      k.other_emails, k.hashed_email, k.profile_url, k.first_name, k.last_name, k.name, k.organization_name, k.domain
    from unnest(
      ${contacts.map(({ contactId }) => contactId)}::text[],
      ${contacts.map(({ compared }) => compared.keys[0] ?? null)}::text[]) as c (contact_id, key)
    cross join lateral (select * from contact_records where keys @> array[c.key] offset 0) k
    join runs u on u.run_id = k.run_id and u.undone_at is not null
    cross join lateral (
      select * from contact_matches
      where source = k.source and contact_id = k.contact_id and run_id = k.run_id
      order by decided_at desc, match_id desc
      limit 1
    ) m
    where k.contact_id = c.contact_id and m.service = ${service} and m.person_key is not null
  `.execute(database);
  const records = rows.filter(({ evidence }) => isWeak(evidence));
  const answered = contacts.map((contact) => {
    const same = records.filter(
      (record) =>
        record.contact_id === contact.contactId &&
        isDeepStrictEqual(identityOfColumns(record), contact.compared.identity),
    );
    return [contact, same.map((record) => record.person_key)] as const;
  });
  return new Map(answered.filter(([, people]) => people.length > 0));
}
