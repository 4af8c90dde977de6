import { scheduler } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { contradictionOf } from '../../domain/identity/contact-validity.ts';
import { decidePerson, type Candidate, type PersonDecision } from '../../domain/identity/decide-person.ts';
import {
  isOnePerson,
  isWeak,
  weigh,
  type ComparedIdentity,
  type Evidence,
} from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfIdentity, matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { wereMerged } from '../../domain/identity/merged-people.ts';
import { contestedReason, isContested } from '../../domain/identity/rivals.ts';
import type { Tables } from '../../db/schema.ts';
import { ByMatchKey } from '../known/by-match-key.ts';
import type { ContactState } from './contact-states.ts';
import { emailHashes } from '../known/email-hashes.ts';
import { keysOfMerged } from '../known/merged-keys.ts';
import { contactKey, readKnownPeople, readUndonePeople, type KnownPerson } from '../known/known-people.ts';
import { readKnownRows, type KnownRow } from '../known/known-rows.ts';

/** What a contact should be, as far as it is something else now. */
export type ContactChange =
  | {
      readonly kind: 'fill';
      readonly contact: ContactState;
      readonly person: KnownPerson;
      /** `keysOfMerged`. */
      readonly personKeys: readonly string[] | null;
      readonly evidence: Evidence;
      readonly isUndone: boolean;
      /** The contact has the person, perhaps by another record. */
      readonly isSamePerson: boolean;
    }
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

/** What a decision about contacts depends on: everybody who could be them, and every row that could be these people. */
class Neighbourhood {
  readonly #people: ByMatchKey<KnownPerson>;
  readonly #rows: ByMatchKey<KnownRow>;
  readonly byKey: ReadonlyMap<string, KnownPerson>;

  constructor(people: readonly KnownPerson[], rows: readonly KnownRow[]) {
    this.#people = new ByMatchKey(people);
    this.#rows = new ByMatchKey(rows);
    this.byKey = new Map(people.map((person) => [person.personKey, person]));
  }

  /**
   * Everybody whom a decision about the contact compares. Where an identifier decides, these are the people who share
   * one: of a common name there can be hundreds of others.
   */
  peopleOf(contact: ContactState): {
    readonly people: readonly KnownPerson[];
    readonly isIdentified: boolean;
  } {
    const sharing = this.#people.sharing(matchKeysOfIdentityKeys(contact.compared.keys));
    const isIdentified = sharing.some(
      ({ compared }) => weigh(contact.compared, compared, emailHashes).strength === 'strong',
    );
    return { people: isIdentified ? sharing : this.#people.sharing(peopleKeysOf(contact)), isIdentified };
  }

  decide(contact: ContactState): {
    readonly decision: PersonDecision;
    readonly people: readonly KnownPerson[];
  } {
    const { people } = this.peopleOf(contact);
    return {
      people,
      decision: decidePerson(
        contact.compared,
        {
          candidates: people.map((person) => asCandidate(person, contact)),
          others: () => this.#othersOf(contact, people),
          wasAsked: contact.wasAsked,
        },
        emailHashes,
      ),
    };
  }

  /** All keys of a person whom the contact gets or keeps. */
  keysOf(person: KnownPerson, { personKey, personKeys }: ContactState): readonly string[] | null {
    const isSame = personKeys?.includes(person.personKey) === true;
    return keysOfMerged(
      person,
      this.#people,
      isSame || person.personKey === personKey
        ? { keys: personKeys ?? [], isKnown: (key) => this.byKey.has(key) }
        : undefined,
    );
  }

  /** Whether another contact could be the contact's person as well, whom the contact has by weak evidence. */
  isContested(contact: ContactState, person: KnownPerson): boolean {
    return (
      isWeak(contact.evidence) &&
      isContested(contact.compared, person.compared, this.#othersOf(contact, [person]), emailHashes)
    );
  }

  /** Rows of other contacts that could be these people. */
  #othersOf(contact: ContactState, people: readonly KnownPerson[]): readonly ComparedIdentity[] {
    return this.#rows
      .sharing(people.flatMap(({ matchKeys }) => matchKeys))
      .filter((row) => !isSameContact(row, contact))
      .map(({ compared }) => compared);
  }
}

/**
 * A person as a candidate for a contact that a run has asked for at `lastAskedAt`. A person whom the contact got from
 * stored answers in that run itself is as good a candidate as before.
 */
export function asCandidate(
  { compared, askedAt, givenTo }: KnownPerson,
  contact: Pick<ContactState, 'source' | 'contactId' | 'lastAskedAt'>,
): Candidate {
  const givenAt = givenTo.get(contactKey(contact.source, contact.contactId));
  const isFormer =
    contact.lastAskedAt !== null &&
    askedAt < contact.lastAskedAt &&
    givenAt !== undefined &&
    givenAt < contact.lastAskedAt;
  return { person: compared, isFormer, askedAt };
}

type ContactName = Pick<ContactState, 'source' | 'contactId'>;

export function isSameContact(one: ContactName, other: ContactName): boolean {
  return one.source === other.source && one.contactId === other.contactId;
}

/** Keys of everybody who could be the contact: without a call, only by an identifier. */
function peopleKeysOf({ compared, wasAsked }: ContactState): number[] {
  return wasAsked ? matchKeysOfIdentity(compared.identity) : matchKeysOfIdentityKeys(compared.keys);
}

async function readNeighbourhood(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
  arrived: readonly KnownPerson[],
): Promise<Neighbourhood> {
  const known = await readKnownPeople(database, service, {
    matchKeys: [...new Set(contacts.flatMap(peopleKeysOf))],
    personKeys: contacts.flatMap(({ personKey }) => personKey ?? []),
  });
  const people = [...arrived, ...known];
  const nearby = new Neighbourhood(people, []);
  // Other rows decide only about weak evidence.
  const weak = new Set<number>();
  for (const contact of contacts) {
    await letTimersRun();
    if (isWeak(contact.evidence))
      for (const key of nearby.byKey.get(contact.personKey ?? '')?.matchKeys ?? []) weak.add(key);
    const { people: near, isIdentified } = nearby.peopleOf(contact);
    if (!contact.wasAsked || isIdentified) continue;
    for (const { compared, matchKeys } of near)
      if (weigh(contact.compared, compared, emailHashes).strength === 'weak')
        for (const key of matchKeys) weak.add(key);
  }
  return new Neighbourhood(people, await readKnownRows(database, [...weak]));
}

/**
 * Decides which people contacts are, by everything that the warehouse knows.
 *
 * @param beside.arrived people of an answer that is not recorded yet
 * @param beside.withUndone whether contacts without a person get people of whom only undone runs know
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
  const filled = new Set(fills.map(({ contact }) => contact));
  return [...changes.filter(({ contact }) => !filled.has(contact)), ...fills];
}

/** A thousand contacts with hundreds of namesakes take seconds, and the activity must send its heartbeats. */
async function letTimersRun(): Promise<void> {
  await scheduler.yield();
}

/** A suppressed row gives its contact no person. */
function withoutForbidden(change: ContactChange | undefined): ContactChange | undefined {
  return change?.kind === 'fill' && change.contact.isSuppressed ? withoutPerson(change)[0] : change;
}

/** What is left of a decision if its contact may not get the person: the contact loses another person. */
export function withoutPerson({
  contact,
  isSamePerson,
}: Extract<ContactChange, { kind: 'fill' }>): ContactChange[] {
  return isSamePerson || contact.personKey === null
    ? []
    : [{ kind: 'withdraw', contact, reason: anotherFits }];
}

function changeOf(contact: ContactState, nearby: Neighbourhood): ContactChange | undefined {
  const { decision, people } = nearby.decide(contact);
  const current = contact.personKey === null ? undefined : nearby.byKey.get(contact.personKey);
  switch (decision.kind) {
    case 'person': {
      const person = people[decision.index]!;
      const personKeys = nearby.keysOf(person, contact);
      const isCurrent = current !== undefined && isOnePerson(current.compared, person.compared);
      if (isCurrent && JSON.stringify(personKeys) === JSON.stringify(contact.personKeys))
        return contact.isNewRow ? { kind: 'keep', contact } : undefined;
      const isSamePerson =
        isCurrent || (current !== undefined && wereMerged(current.compared, person.compared));
      const { evidence } = decision;
      return { kind: 'fill', contact, person, personKeys, evidence, isUndone: false, isSamePerson };
    }
    case 'refused': {
      const { reason } = decision;
      if (!current) return { kind: 'refuse', contact, reason, isContradicted: false };
      const isDoubted = decision.isStrong || isWeak(contact.evidence);
      return isDoubted ? { kind: 'withdraw', contact, reason } : unlessContradicted(contact, current);
    }
    case 'none': {
      if (contact.personKey === null && !contact.wasAsked && decision.reason !== undefined)
        return { kind: 'refuse', contact, reason: decision.reason, isContradicted: true };
      if (!current) return undefined;
      return nearby.isContested(contact, current)
        ? { kind: 'withdraw', contact, reason: contestedReason }
        : unlessContradicted(contact, current);
    }
  }
}

/** A contact stays its person unless new cells contradict the person. */
function unlessContradicted(contact: ContactState, current: KnownPerson): ContactChange | undefined {
  if (!contact.isNewRow) return undefined;
  const reason = contradictionOf(contact.compared.identity, current.person, emailHashes);
  return reason === undefined ? { kind: 'keep', contact } : { kind: 'withdraw', contact, reason };
}

/** Stored answers of undone runs were paid for: an identifier gives them to contacts that have no person. */
async function fillFromUndone(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<ContactChange[]> {
  const people = new ByMatchKey(
    await readUndonePeople(database, service, [
      ...new Set(contacts.flatMap(({ compared }) => matchKeysOfIdentityKeys(compared.keys))),
    ]),
  );
  return contacts.flatMap((contact): ContactChange[] => {
    const known = people.sharing(matchKeysOfIdentityKeys(contact.compared.keys));
    const candidates = known.map(({ compared, askedAt }) => ({ person: compared, askedAt }));
    const decision = decidePerson(
      contact.compared,
      { candidates, others: () => [], wasAsked: false },
      emailHashes,
    );
    if (decision.kind !== 'person') return [];
    const person = known[decision.index]!;
    const { evidence } = decision;
    return [
      { kind: 'fill', contact, person, personKeys: null, evidence, isUndone: true, isSamePerson: false },
    ];
  });
}
