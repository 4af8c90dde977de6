import { sql, type Transaction } from 'kysely';
import { isPossible } from '../domain/identity/decide-person.ts';
import { areTwoPeople, readyPerson, weigh } from '../domain/identity/identity-evidence.ts';
import { ownerKey } from '../domain/identity/match-keys.ts';
import type { Person } from '../domain/identity/person.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import type { ContactKey } from '../keys/contact-key.ts';
import { readAnsweredCalls, type AnsweredCall, type ListedOfCall } from './answered-call.ts';
import {
  anotherFits,
  nameOfContact,
  writeContactChanges,
  type Decision,
  type Touched,
} from './contact-changes.ts';
import { digestCall, rowOf, writeCalls, type Arrived } from './digested-calls.ts';
import { columnsOf, comparedForm, fold, timestampOf, type FoldedPerson, type Observation } from './fold.ts';
import { knownPerson, Neighbourhood, type ContactState, type KnownPerson } from './neighbourhood.ts';
import { factsOfAnswer, personKey as keyOfPerson } from './observation.ts';
import {
  nameOfPerson,
  newObservationIds,
  readObservations,
  readPersonKeys,
  readPersonValues,
  writeObservations,
  writePeople,
  type NewObservation,
  type PersonName,
  type PersonValues,
} from './people-tables.ts';
import { readForbiddenFills, readListed, removeSuppressed } from './suppressed-facts.ts';

/** What a step of the digest looks at. */
export interface FactsToDigest {
  /** Ids of attempts whose answers are stored. */
  readonly answers: readonly string[];
  readonly contacts: readonly ContactKey[];
  readonly people: readonly PersonName[];
}

/** What a step of the digest has changed. */
export interface DigestFigures {
  /** Contacts that got the data of a known person without a call. */
  readonly filled: number;
  /** Contacts that lost the data of the person whom they were, and got no other. */
  readonly withdrawn: number;
  /** Names of the people and contacts whose rows differed from the facts. */
  readonly differing: readonly string[];
}

/**
 * Decides who is who by new facts, and writes what follows from them: current values, earlier values, matches of
 * contacts, outcomes of rows, the lookup history and the change feed. The caller holds the lock of the digest.
 *
 * In the end the tables do not depend on the order of the facts. Digesting facts again changes nothing.
 */
export async function digestFacts(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  facts: FactsToDigest,
): Promise<DigestFigures> {
  const calls = await readAnsweredCalls(transaction, database, facts.answers);
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000000)::float8 as now
  `.execute(transaction);
  const listedOf = await readListed(transaction, calls);
  return new DigestStep(transaction, rows[0]!.now, listedOf, calls).run(calls, facts);
}

class DigestStep {
  readonly #transaction: Transaction<Tables>;
  readonly #now: number;
  readonly #listedOf: (call: AnsweredCall) => ListedOfCall;
  readonly #near: Neighbourhood;
  readonly #touched = new Map<string, Touched>();
  /** The values of touched people before the step. */
  readonly #before = new Map<string, PersonValues>();
  readonly #differing: string[] = [];

  constructor(
    transaction: Transaction<Tables>,
    now: number,
    listedOf: (call: AnsweredCall) => ListedOfCall,
    calls: readonly AnsweredCall[],
  ) {
    this.#transaction = transaction;
    this.#now = now;
    this.#listedOf = listedOf;
    this.#near = new Neighbourhood(
      transaction,
      calls.flatMap(({ askedAtMicroseconds: askedAt, rows }) =>
        rows.map(({ source, contactId, compared }) => ({ source, contactId, askedAt, keys: compared.keys })),
      ),
    );
  }

  async run(calls: readonly AnsweredCall[], facts: FactsToDigest): Promise<DigestFigures> {
    const arrived = await this.#observe(calls, facts.people);
    const contacts = await this.#readContacts(calls, facts.contacts);
    const decided = await this.#decide(calls, contacts);
    const decisionOf = new Map(decided.map((decision) => [nameOfContact(decision.contact), decision]));
    const digested = calls.map((call) =>
      digestCall(call, this.#listedOf(call), arrived.get(call)!, (row) =>
        decisionOf.get(nameOfContact(row))!,
      ),
    );
    const newestFirst = digested.toSorted(
      (one, other) => other.call.askedAtMicroseconds - one.call.askedAtMicroseconds,
    );
    const decisions = decided.map((decision): Decision => {
      const { person } = decision.decided;
      const asking = newestFirst.find(({ call, rows, arrived: said }) => {
        const rowNumber = rowOf(call, decision.contact)?.rowNumber;
        // An answer can show by other data that the contact is a person whom it does not name.
        const hasPerson = said.some(({ written }) =>
          written.some(({ personKey }) => personKey === person?.personKey),
        );
        return hasPerson && rows.some((row) => row.rowNumber === rowNumber && row.outcome === 'enriched');
      });
      if (!asking) return decision;
      const { attemptId, runId } = asking.call;
      return {
        ...decision,
        call: { attemptId, runId, rowNumber: rowOf(asking.call, decision.contact)!.rowNumber },
      };
    });
    const step = {
      transaction: this.#transaction,
      now: this.#now,
      near: this.#near,
      touched: this.#touched,
      before: this.#before,
    };
    const { changed, ...figures } = await writeContactChanges(
      step,
      decisions,
      new Set(facts.contacts.map(nameOfContact)),
    );
    this.#differing.push(...changed);
    await writeCalls(this.#transaction, digested);
    for (const each of digested) await removeSuppressed(this.#transaction, each);
    return { ...figures, differing: this.#differing };
  }

  /** Appends what answers say about people, and folds everybody of whom something new is known. */
  async #observe(
    calls: readonly AnsweredCall[],
    people: readonly PersonName[],
  ): Promise<ReadonlyMap<AnsweredCall, readonly Arrived[]>> {
    const named = calls.flatMap(({ service, arrived }) =>
      arrived.flatMap(({ personKey }) => (personKey === undefined ? [] : [{ service, personKey }])),
    );
    const names = [
      ...new Map([...named, ...people].map((person) => [nameOfPerson(person), person])).values(),
    ];
    const stored = await readObservations(this.#transaction, names);
    const keys = await readPersonKeys(
      this.#transaction,
      names.filter((person) => !stored.has(nameOfPerson(person))),
    );
    for (const [name, values] of await readPersonValues(this.#transaction, names))
      this.#before.set(name, values);
    const all = new Map<string, Observed>(
      names.map((person) => {
        const name = nameOfPerson(person);
        const observed = stored.get(name) ?? { observations: [], matchKeys: keys.get(name) ?? [] };
        return [name, { ...person, ...observed }];
      }),
    );
    const arrived = new Map(calls.map((call) => [call, this.#arrivedOf(call, all)]));
    const said = calls.flatMap((call) => saidBy(call, arrived.get(call)!));
    const ids = await newObservationIds(this.#transaction, said.length);
    const added = said.map(({ call, personKey, facts }, index): NewObservation => {
      const { service } = call;
      const name = nameOfPerson({ service, personKey });
      const { row, observation } = this.#observationOf(call, personKey, facts, ids[index]!);
      const person = all.get(name) ?? { service, personKey, observations: [], matchKeys: [] };
      all.set(name, {
        ...person,
        observations: [...person.observations, observation],
        matchKeys: [...person.matchKeys, ...facts.match_keys],
      });
      return row;
    });
    await writeObservations(this.#transaction, added);
    await this.#writeFolded(
      [...all.values()].map((person) => ({
        ...person,
        folded: person.observations.length > 0 ? fold(person.observations) : undefined,
      })),
    );
    return arrived;
  }

  /**
   * The people of an answer, each with the keys under which the answer is written. A person without an id belongs to
   * the contacts of the call that it could be, and has a key of its own for each.
   */
  #arrivedOf(call: AnsweredCall, all: ReadonlyMap<string, Observed>): readonly Arrived[] {
    const { attemptId, runId, service, rows } = call;
    const listed = this.#listedOf(call);
    return call.arrived.map((each): Arrived => {
      const { person, personKey, matchIndex } = each;
      const isForeign =
        personKey !== undefined && isOfAnother(call, each, all.get(nameOfPerson({ service, personKey }))!);
      const owned = rows.flatMap(({ rowNumber, source, contactId, compared }) =>
        isPossible(weigh(compared, readyPerson(person)))
          ? [
              {
                personKey: keyOfPerson(null, { runId, rowNumber, attemptId, matchIndex }),
                matchKeys: [ownerKey(source, contactId)],
              },
            ]
          : [],
      );
      const facts = factsOfAnswer(person, call.answer.waterfall);
      const written = personKey === undefined ? owned : [{ personKey, matchKeys: facts.match_keys }];
      return {
        ...each,
        facts,
        isForeign,
        written: isForeign || listed.matches.has(matchIndex) ? [] : written,
      };
    });
  }

  #observationOf(call: AnsweredCall, personKey: string, facts: Arrived['facts'], observationId: number) {
    const { attemptId, runId, service } = call;
    return {
      row: {
        ...facts,
        service,
        personKey,
        kind: 'answer',
        askedAt: call.askedAt,
        recordedAt: timestampOf(this.#now),
        runId,
        attemptId,
        deliveryId: null,
        observationId,
      } satisfies NewObservation,
      observation: {
        observationId,
        askedAt: call.askedAtMicroseconds,
        recordedAt: this.#now,
        runId,
        attemptId,
        organizationKey: facts.organization_key,
        // As the database returns them: without members that are undefined.
        facts: JSON.parse(JSON.stringify(facts.facts)) as Observation['facts'],
      } satisfies Observation,
    };
  }

  async #writeFolded(folded: readonly Touched[]): Promise<void> {
    const people = folded.map((person): Touched => ({ ...person, matchKeys: keysOfFolded(person) }));
    this.#differing.push(...(await writePeople(this.#transaction, people)));
    for (const person of people) {
      this.#touched.set(nameOfPerson(person), person);
      if (person.folded) this.#near.addPerson(knownOf(person, person.folded), person.matchKeys);
    }
  }

  /** Reads the contacts to decide about, and everybody whom the decisions compare. */
  async #readContacts(
    calls: readonly AnsweredCall[],
    dirty: readonly ContactKey[],
  ): Promise<readonly ContactState[]> {
    const near = this.#near;
    const asked = calls.flatMap(({ rows }) => rows);
    const first = await near.readContacts([...asked, ...dirty]);
    await near.readPeopleOf(first, true);
    const touched = [...this.#touched.values()].flatMap(({ service, personKey, folded, matchKeys }) =>
      folded ? [near.person(service, personKey)!] : [{ service, personKey, matchKeys }],
    );
    const known = touched.filter((person): person is KnownPerson => 'person' in person);
    const names = new Set(dirty.map(nameOfContact));
    const changed = first.filter((contact) => names.has(nameOfContact(contact)));
    const contested = changed.flatMap((contact) => near.weakCandidates(contact, true));
    const sharing = await near.readContactsOf([...touched, ...contested]);
    const affected = sharing.filter(
      (contact) => known.length < touched.length || near.isNear(contact, [...known, ...contested]),
    );
    await near.readPeopleOf(affected);
    const contacts = [...new Set([...first, ...affected])];
    await near.readContactsOf(contacts.flatMap((contact) => near.weakCandidates(contact)));
    return contacts;
  }

  /** Decides about contacts. A contact on the suppression list gets nobody, and nobody on the list is given to one. */
  async #decide(
    calls: readonly AnsweredCall[],
    contacts: readonly ContactState[],
  ): Promise<readonly Decision[]> {
    const decisions = contacts.map((contact): Decision => ({ contact, decided: this.#near.decide(contact) }));
    const fills = decisions.flatMap(({ contact, decided: { person } }) =>
      person && contact.match?.personKey !== person.personKey ? [{ contact, person }] : [],
    );
    const forbidden = await readForbiddenFills(this.#transaction, fills);
    const suppressed = new Set(
      calls.flatMap((call) =>
        call.rows.flatMap((row) =>
          this.#listedOf(call).rows.has(row.rowNumber) ? [nameOfContact(row)] : [],
        ),
      ),
    );
    for (const { contact } of fills) if (suppressed.has(nameOfContact(contact))) forbidden.add(contact);
    return decisions.map((decision) =>
      forbidden.has(decision.contact)
        ? { ...decision, decided: { person: undefined, reason: anotherFits, isRefused: true } }
        : decision,
    );
  }
}

interface Observed extends PersonName {
  readonly observations: readonly Observation[];
  readonly matchKeys: readonly number[];
}

/** What calls say about people, each person once a call. */
function saidBy(call: AnsweredCall, arrived: readonly Arrived[]) {
  const said = arrived.flatMap(({ facts, written }) =>
    written.map(({ personKey, matchKeys }) => ({
      call,
      personKey,
      facts: { ...facts, match_keys: matchKeys },
    })),
  );
  return said.filter(
    ({ personKey }, index) => said.findIndex((each) => each.personKey === personKey) === index,
  );
}

/** Whether the id is of somebody else: an earlier answer, or the same answer, has it for a person of another name. */
function isOfAnother(
  call: AnsweredCall,
  { person, personKey, matchIndex }: AnsweredCall['arrived'][number],
  { observations }: Observed,
): boolean {
  const others: Person[] = observations.some(({ facts }) => facts['first_name'] ?? facts['name'])
    ? [personOfFolded(fold(observations))]
    : call.arrived.flatMap((other) =>
        other.personKey === personKey && other.matchIndex !== matchIndex ? [other.person] : [],
      );
  return others.some((other) => areTwoPeople(readyPerson(person), readyPerson(other)));
}

function personOfFolded(folded: FoldedPerson): Person {
  return comparedForm({
    columns: columnsOf(folded),
    emails: folded.emails,
    employment: folded.employment?.value ?? [],
  });
}

/** The keys of all observations. A name and an employer of two observations together give further keys. */
function keysOfFolded({ observations, matchKeys, folded, ...person }: Touched): readonly number[] {
  if (!folded || observations.length < 2) return [...new Set(matchKeys)];
  const known = knownOf(person, folded);
  const isFoundByName = known.compared.personId !== undefined;
  return [...new Set([...matchKeys, ...(isFoundByName ? known.matchKeys : [])])];
}

function knownOf(person: PersonName, folded: FoldedPerson): KnownPerson {
  return knownPerson({
    service: person.service,
    personKey: person.personKey,
    person: personOfFolded(folded),
    askedAt: folded.newest.askedAt,
  });
}
