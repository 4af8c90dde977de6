import { isDeepStrictEqual } from 'node:util';
import { sql, type Transaction } from 'kysely';
import type { DecidedRow } from '../domain/identity/alignment.ts';
import { areTwoPeople, readyPerson } from '../domain/identity/identity-evidence.ts';
import { ownerKey } from '../domain/identity/match-keys.ts';
import type { Person } from '../domain/identity/person.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import type { ContactKey } from '../keys/contact-key.ts';
import { readAnsweredCalls, type AnsweredCall, type AskedRow, type ListedOfCall } from './answered-call.ts';
import {
  anotherFits,
  nameOfContact,
  writeContactChanges,
  type Decision,
  type Touched,
} from './contact-changes.ts';
import { digestCall, writeCalls, type Arrived, type DigestedCall } from './digested-calls.ts';
import { columnsOf, comparedForm, fold, timestampOf, type FoldedPerson, type Observation } from './fold.ts';
import {
  knownPerson,
  Neighbourhood,
  type ContactRecord,
  type ContactState,
  type KnownPerson,
} from './neighbourhood.ts';
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
    const contacts = await this.#readContacts(calls, arrived, facts.contacts);
    const strangers = new Map(calls.map((call) => [call, this.#strangersOf(call, arrived.get(call)!)]));
    const digested = calls.map((call) => {
      const people = [...strangers.get(call)!.keys()];
      const rows = call.rows.map((row) => this.#decideRow(row, people));
      return digestCall(call, this.#listedOf(call), arrived.get(call)!, rows);
    });
    const decisions = contacts.map((contact): Decision => {
      const asking = calls.flatMap((call) => (rowOf(call, contact) ? [call] : []));
      const people = asking.flatMap((call) => [...strangers.get(call)!.keys()]);
      const decided = this.#near.decide(contact, people);
      return { contact, decided, ...callOf(contact, decided.person, digested) };
    });
    const matched = await this.#withoutForbidden(await this.#nameStrangers(decisions, strangers));
    const step = {
      transaction: this.#transaction,
      now: this.#now,
      near: this.#near,
      touched: this.#touched,
      before: this.#before,
    };
    const { changed, ...figures } = await writeContactChanges(
      step,
      matched,
      new Set(facts.contacts.map(nameOfContact)),
    );
    this.#differing.push(...changed);
    await writeCalls(this.#transaction, digested);
    for (const each of digested) await removeSuppressed(this.#transaction, each);
    return { ...figures, differing: this.#differing };
  }

  /** Appends what answers say about people with an id, and folds everybody of whom something new is known. */
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
    const all = new Map(
      names.map((person) => [
        nameOfPerson(person),
        {
          ...person,
          ...(stored.get(nameOfPerson(person)) ?? {
            observations: [],
            matchKeys: keys.get(nameOfPerson(person)) ?? [],
          }),
        },
      ]),
    );
    const ids = await newObservationIds(this.#transaction, named.length);
    const added: NewObservation[] = [];
    const arrived = new Map<AnsweredCall, readonly Arrived[]>();
    for (const call of calls) {
      const listed = this.#listedOf(call);
      const read = call.arrived.map((each): Arrived => ({
        ...each,
        facts: factsOfAnswer(each.person, call.answer.waterfall),
        isForeign: this.#isForeign(call, each, all),
      }));
      arrived.set(call, read);
      const seen = new Set<string>();
      for (const { personKey, matchIndex, isForeign, facts } of read) {
        if (personKey === undefined || isForeign || listed.matches.has(matchIndex) || seen.has(personKey))
          continue;
        seen.add(personKey);
        const name = nameOfPerson({ service: call.service, personKey });
        const person = all.get(name)!;
        const observation = this.#observationOf(call, personKey, facts, ids[added.length]!);
        added.push(observation.row);
        all.set(name, {
          ...person,
          observations: [...person.observations, observation.observation],
          matchKeys: [...person.matchKeys, ...facts.match_keys],
        });
      }
    }
    await this.#writeObserved(calls[0]?.service, added, calls);
    await this.#writeFolded(
      [...all.values()].map((person) => ({
        ...person,
        folded: person.observations.length > 0 ? fold(person.observations) : undefined,
      })),
    );
    return arrived;
  }

  /** Calls of several services can wait in the queue. */
  async #writeObserved(
    service: string | undefined,
    added: readonly NewObservation[],
    calls: readonly AnsweredCall[],
  ): Promise<void> {
    if (service === undefined) return;
    const serviceOf = new Map(calls.map((call) => [call.attemptId, call.service]));
    for (const each of new Set(serviceOf.values()))
      await writeObservations(
        this.#transaction,
        each,
        added.filter(({ attemptId }) => serviceOf.get(attemptId) === each),
      );
  }

  #observationOf(call: AnsweredCall, personKey: string, facts: Arrived['facts'], observationId: number) {
    const { attemptId, runId } = call;
    return {
      row: {
        ...facts,
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

  /** Whether the id is of somebody else: an earlier answer, or the same answer, has it for a person of another name. */
  #isForeign(
    call: AnsweredCall,
    { person, personKey, matchIndex }: AnsweredCall['arrived'][number],
    all: ReadonlyMap<string, { readonly observations: readonly Observation[] }>,
  ): boolean {
    if (personKey === undefined) return false;
    const { observations } = all.get(nameOfPerson({ service: call.service, personKey }))!;
    const others: Person[] = observations.some(({ facts }) => facts['first_name'] ?? facts['name'])
      ? [personOfFolded(fold(observations))]
      : call.arrived.flatMap((other) =>
          other.personKey === personKey && other.matchIndex !== matchIndex ? [other.person] : [],
        );
    return others.some((other) => areTwoPeople(readyPerson(person), readyPerson(other)));
  }

  async #writeFolded(folded: readonly Touched[]): Promise<void> {
    const people = folded.map((person): Touched => ({ ...person, matchKeys: keysOfFolded(person) }));
    this.#differing.push(...(await writePeople(this.#transaction, people)));
    for (const person of people) {
      this.#touched.set(nameOfPerson(person), person);
      if (person.folded) this.#near.addPerson(knownOf(person, person.folded), person.matchKeys);
    }
    for (const service of new Set(people.map((each) => each.service))) {
      const theirs = people.filter((each) => each.service === service);
      const companies = theirs.flatMap(({ observations }) =>
        observations.flatMap(({ organizationKey: key }) =>
          key === null || key.startsWith('name:') ? [] : [key],
        ),
      );
      if (companies.length > 0)
        await sql`select project_organizations(${service}, ${[...new Set(companies)]}::text[])`.execute(
          this.#transaction,
        );
      // Retention compares only observations that newer ones may have replaced.
      const replaceable = theirs.flatMap(({ observations }) =>
        observations.length > 1 ? observations.map(({ observationId }) => observationId) : [],
      );
      if (replaceable.length > 0)
        await sql`
          insert into prune_candidates (observation_id, recorded_at)
          select observation_id, recorded_at from observation_log
          where observation_id = any(${replaceable}::bigint[])
          order by observation_id
          on conflict (observation_id) do update set queued_by = excluded.queued_by
        `.execute(this.#transaction);
    }
  }

  /** Reads the contacts to decide about, and everybody whom the decisions compare. */
  async #readContacts(
    calls: readonly AnsweredCall[],
    arrived: ReadonlyMap<AnsweredCall, readonly Arrived[]>,
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
    const strangers = calls.flatMap((call) => [...this.#strangersOf(call, arrived.get(call)!).keys()]);
    await near.readContactsOf([...contacts.flatMap((contact) => near.weakCandidates(contact)), ...strangers]);
    return contacts;
  }

  /** People of an answer whom only its own rows can get: those without an id, and those on the suppression list. */
  #strangersOf(call: AnsweredCall, arrived: readonly Arrived[]): ReadonlyMap<KnownPerson, Arrived> {
    const listed = this.#listedOf(call);
    return new Map(
      arrived.flatMap((each) => {
        const { person, personKey, matchIndex, isForeign } = each;
        if (isForeign || (personKey !== undefined && !listed.matches.has(matchIndex))) return [];
        const stranger = knownPerson({
          service: call.service,
          personKey: keyOfStranger(call, each),
          person,
          askedAt: call.askedAtMicroseconds,
        });
        return [[stranger, each] as const];
      }),
    );
  }

  #decideRow(row: AskedRow, strangers: readonly KnownPerson[]): DecidedRow {
    const contact = this.#near.contact(row)!;
    const [newest] = contact.records;
    const record: ContactRecord =
      newest && isDeepStrictEqual(newest.compared.identity, row.compared.identity)
        ? newest
        : { ...row, runId: '', askedAt: this.#now, isBlocked: false };
    const { decision, people } = this.#near.decideBy(contact, record, strangers);
    const { verdicts } = contact;
    switch (decision.kind) {
      case 'person':
        return {
          row: row.compared,
          verdicts,
          decision: {
            kind: 'person',
            person: people[decision.index]!.compared,
            evidence: decision.evidence,
          },
        };
      case 'refused':
        return {
          row: row.compared,
          verdicts,
          decision: {
            kind: 'refused',
            people: decision.indexes.map((index) => people[index]!.compared),
            reason: decision.reason,
          },
        };
      case 'none':
        return { row: row.compared, verdicts, decision: { kind: 'none' } };
    }
  }

  /** Gives people without an id a key of their own, and writes what the answer says about them. */
  async #nameStrangers(
    decisions: readonly Decision[],
    strangers: ReadonlyMap<AnsweredCall, ReadonlyMap<KnownPerson, Arrived>>,
  ): Promise<readonly Decision[]> {
    const callOfStranger = new Map(
      [...strangers].flatMap(([call, people]) =>
        [...people].map(([person, arrived]) => [person, { call, arrived }] as const),
      ),
    );
    const found = decisions.flatMap(({ contact, decided }) => {
      const stranger = decided.person && callOfStranger.get(decided.person);
      return stranger ? [{ contact, ...stranger }] : [];
    });
    const allowed = found.filter(({ call, arrived, contact }) => {
      const listed = this.#listedOf(call);
      return !listed.matches.has(arrived.matchIndex) && !listed.rows.has(rowOf(call, contact)!.rowNumber);
    });
    const ids = await newObservationIds(this.#transaction, allowed.length);
    const named = allowed.map(({ contact, call, arrived }, index) => {
      const rowNumber = rowOf(call, contact)!.rowNumber;
      const personKey = keyOfPerson(null, { runId: call.runId, rowNumber, attemptId: call.attemptId });
      const facts = { ...arrived.facts, match_keys: [ownerKey(contact.source, contact.contactId)] };
      const { row, observation } = this.#observationOf(call, personKey, facts, ids[index]!);
      const touched: Touched = {
        service: call.service,
        personKey,
        matchKeys: facts.match_keys,
        observations: [observation],
        folded: fold([observation]),
      };
      return { contact, call, row, touched };
    });
    await this.#writeObserved(
      named[0]?.call.service,
      named.map(({ row }) => row),
      named.map(({ call }) => call),
    );
    await this.#writeFolded(named.map(({ touched }) => touched));
    return decisions.map((decision): Decision => {
      const { contact, decided } = decision;
      if (decided.person === undefined || !callOfStranger.has(decided.person)) return decision;
      const own = named.find((each) => each.contact === contact);
      return own
        ? {
            ...decision,
            decided: { ...decided, person: this.#near.person(own.touched.service, own.touched.personKey)! },
          }
        : { ...decision, decided: { person: undefined, reason: anotherFits } };
    });
  }

  /** People on the suppression list are given to no contact. */
  async #withoutForbidden(decisions: readonly Decision[]): Promise<readonly Decision[]> {
    const fills = decisions.flatMap(({ contact, decided: { person } }) =>
      person && contact.match?.personKey !== person.personKey ? [{ contact, person }] : [],
    );
    const forbidden = await readForbiddenFills(this.#transaction, fills);
    return decisions.map((decision) =>
      forbidden.has(decision.contact)
        ? { ...decision, decided: { person: undefined, reason: anotherFits } }
        : decision,
    );
  }
}

function rowOf({ rows }: AnsweredCall, { source, contactId }: ContactKey): AskedRow | undefined {
  return rows.find((row) => row.source === source && row.contactId === contactId);
}

/** The newest call that asked for the contact and whose answer has the contact's person. */
function callOf(
  contact: ContactState,
  person: KnownPerson | undefined,
  calls: readonly DigestedCall[],
): Pick<Decision, 'call'> {
  const newestFirst = calls.toSorted(
    (one, other) => other.call.askedAtMicroseconds - one.call.askedAtMicroseconds,
  );
  for (const { call, rows, arrived } of newestFirst) {
    const rowNumber = rowOf(call, contact)?.rowNumber;
    const row = rows.find((each) => each.rowNumber === rowNumber && each.outcome === 'enriched');
    const found = row && arrived.find(({ matchIndex }) => matchIndex === row.matchIndex);
    if (found && person?.personKey === (found.personKey ?? keyOfStranger(call, found)))
      return { call: { attemptId: call.attemptId, runId: call.runId, rowNumber: row.rowNumber } };
  }
  return {};
}

/** A key that a person without an id has until a contact gets the person. */
function keyOfStranger({ attemptId }: AnsweredCall, { matchIndex }: Pick<Arrived, 'matchIndex'>): string {
  return `${attemptId} ${matchIndex}`;
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
