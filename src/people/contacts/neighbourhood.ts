import type { Kysely } from 'kysely';
import { scheduler } from 'node:timers/promises';
import {
  decidePerson,
  verdictsOn,
  isContested,
  type Candidate,
  type PersonDecision,
} from '../../domain/identity/decide-person.ts';
import {
  isWeak,
  weigh,
  type ComparedIdentity,
  type ComparedPerson,
} from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfIdentity, matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { verdictOn } from '../../domain/identity/verdicts.ts';
import type { Tables } from '../../db/schema.ts';
import {
  readDecidedPeople,
  recordsOfDecided,
  ByMatchKey,
  readKnownPeople,
  readKnownRows,
  type KnownPerson,
  type KnownRow,
} from '../known/known-people.ts';
import { contactKey, isSameContact } from '../../keys/contact-key.ts';
import type { ContactState } from './contact-states.ts';

/** What a decision about contacts depends on: everybody who could be them, and every row that could be these people. */
export class Neighbourhood {
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
    const { compared, verdicts } = contact;
    const decided = recordsOfDecided(this.#people, verdicts);
    const sharing = this.#people.sharing(matchKeysOfIdentityKeys(compared.keys));
    const isIdentified =
      decided.some((person) => verdictOn(verdicts, person.compared) === 'confirmed') ||
      sharing.some(
        (person) =>
          verdictOn(verdicts, person.compared) === undefined &&
          weigh(compared, person.compared).strength === 'strong',
      );
    const near = isIdentified ? sharing : this.#people.sharing(peopleKeysOf(contact));
    return { people: decided.length > 0 ? [...new Set([...near, ...decided])] : near, isIdentified };
  }

  decide(contact: ContactState): {
    readonly decision: PersonDecision;
    readonly people: readonly KnownPerson[];
    /** Keys of the people whom decisions reject. */
    readonly rejected: ReadonlySet<string>;
  } {
    const { people } = this.peopleOf(contact);
    const { verdicts } = contact;
    const candidates = people.map((person) => asCandidate(person, contact));
    const others = this.#othersOf(contact, people);
    const decision = decidePerson(contact.compared, {
      candidates,
      others,
      wasAsked: contact.wasAsked,
      verdicts,
    });
    const ofPeople = verdictsOn(candidates, verdicts);
    const rejected = people.filter((_, index) => ofPeople[index] === 'rejected');
    return { people, decision, rejected: new Set(rejected.map(({ personKey }) => personKey)) };
  }

  /** Whether another contact could be the contact's person as well, whom the contact has by weak evidence. */
  isContested(contact: ContactState, person: KnownPerson): boolean {
    return (
      isWeak(contact.evidence) &&
      isContested(contact.compared, person.compared, this.#othersOf(contact, [person]))
    );
  }

  /** Rows of other contacts that could be one of these people, as far as no decision says that they are not. */
  #othersOf(
    contact: ContactState,
    people: readonly KnownPerson[],
  ): (person: ComparedPerson) => readonly ComparedIdentity[] {
    return (person) =>
      this.#rows
        .sharing(people.flatMap(({ matchKeys }) => matchKeys))
        .filter((row) => !isSameContact(row, contact) && verdictOn(row.verdicts, person) !== 'rejected')
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

/** Keys of everybody who could be the contact: without a call, only by an identifier. */
function peopleKeysOf({ compared, wasAsked }: ContactState): number[] {
  return wasAsked ? matchKeysOfIdentity(compared.identity) : matchKeysOfIdentityKeys(compared.keys);
}

export async function readNeighbourhood(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
  arrived: readonly KnownPerson[],
): Promise<Neighbourhood> {
  const known = await readKnownPeople(database, service, {
    matchKeys: [...new Set(contacts.flatMap(peopleKeysOf))],
    personKeys: contacts.flatMap(({ personKey }) => personKey ?? []),
  });
  const decided = await readDecidedPeople(
    database,
    service,
    contacts.map(({ verdicts }) => verdicts),
  );
  const read = new Map([...decided, ...known].map((person) => [person.personKey, person]));
  const people = [...arrived, ...read.values()];
  const weak = await findWeakPeople(contacts, new Neighbourhood(people, []));
  const matchKeys = new Set(weak.flatMap((person) => person.matchKeys));
  return new Neighbourhood(people, await readKnownRows(database, service, [...matchKeys]));
}

/** Finds the people whom contacts have or could get by weak evidence, about which other rows decide. */
async function findWeakPeople(
  contacts: readonly ContactState[],
  nearby: Neighbourhood,
): Promise<readonly KnownPerson[]> {
  const weak = new Set<KnownPerson>();
  for (const contact of contacts) {
    await letTimersRun();
    const current = nearby.byKey.get(contact.personKey ?? '');
    if (current && isWeak(contact.evidence)) weak.add(current);
    const { people: near, isIdentified } = nearby.peopleOf(contact);
    if (!contact.wasAsked || isIdentified) continue;
    for (const person of near)
      if (weigh(contact.compared, person.compared).strength === 'weak') weak.add(person);
  }
  return [...weak];
}

/** A thousand contacts with hundreds of namesakes take seconds, and the activity must send its heartbeats. */
export async function letTimersRun(): Promise<void> {
  await scheduler.yield();
}
