import { sql, type Transaction } from 'kysely';
import { isPossibleFit } from '../domain/identity/decide-person.ts';
import { areTwoPeopleWithOneId, toComparedPerson, weighFit } from '../domain/identity/identity-evidence.ts';
import { hashMatchKeys, contactOwnerKey } from '../domain/identity/match-keys.ts';
import type { Person } from '../domain/identity/person.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { contactKeyText, type ContactKey } from '../keys/contact-key.ts';
import { readAnsweredCalls, type AnsweredCall, type SuppressedInCall } from './answered-call.ts';
import { betterMatchReason, writeContactChanges, type ContactWithPerson } from './contact-changes.ts';
import {
  digestCall,
  requestedRowOf,
  writeCalls,
  type KeyedPersonInAnswer,
  type DigestedCall,
} from './digested-calls.ts';
import {
  toPersonColumns,
  toPersonForIdentity,
  foldObservations,
  microsecondsToTimestamp,
  type FoldedPerson,
  type Observation,
} from './fold.ts';
import { toKnownPerson, Neighbourhood, type ContactState, type KnownPerson } from './neighbourhood.ts';
import { personKeyWithoutId } from './observation.ts';
import {
  personReferenceText,
  allocateObservationIds,
  readObservations,
  readPersonKeys,
  readPersonValues,
  writeObservations,
  writePeople,
  type FoldedPersonRow,
  type NewObservation,
  type ObservedPerson,
  type PersonReference,
} from './people-tables.ts';
import {
  nobody,
  readForbiddenFills,
  readSuppressedInCalls,
  removeSuppressedData,
} from './suppressed-facts.ts';

/**
 * Decides which person each contact is after new facts, and writes the consequences: values of people, matches of
 * contacts, outcomes of rows, the lookup history and the change feed. The caller holds the lock of the digest. The
 * result does not depend on the order of the facts, and digesting a fact twice changes nothing.
 */
export async function digestFacts(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  facts: {
    /** Ids of attempts with the stored answers to digest. */
    readonly answers: readonly string[];
    readonly contacts: readonly ContactKey[];
    readonly people: readonly PersonReference[];
  },
) {
  const calls = await readAnsweredCalls(transaction, database, facts.answers);
  const { rows } = await sql<{ now: number; hasSuppressions: boolean }>`
    select (extract(epoch from clock_timestamp()) * 1000000)::float8 as now,
      exists (select from suppression_entries) as "hasSuppressions"
  `.execute(transaction);
  const { now, hasSuppressions } = rows[0]!;
  const step: DigestStep = {
    transaction,
    now,
    calls,
    hasSuppressions,
    listedOf: hasSuppressions ? await readSuppressedInCalls(transaction, calls) : () => nobody,
    near: new Neighbourhood(transaction),
  };
  const { arrived, ...people } = await observe(step, facts.people);
  for (const call of calls)
    step.near.addCall(
      call,
      arrived.get(call)!.flatMap(({ written }) => written.map(({ personKey }) => personKey)),
    );
  const decided = await decide(step, await readContacts(step, [...people.touched.values()], facts.contacts));
  const decisionOf = new Map(decided.map((decision) => [contactKeyText(decision.contact), decision]));
  const digested = calls.map((call) =>
    digestCall(call, step.listedOf(call), arrived.get(call)!, (row) => decisionOf.get(contactKeyText(row))!),
  );
  const newestFirst = digested.toSorted(
    (one, other) => other.call.askedAtMicroseconds - one.call.askedAtMicroseconds,
  );
  const { changed, ...figures } = await writeContactChanges(
    { ...step, ...people },
    decided.map((decision) => ({ ...decision, call: askingCall(newestFirst, decision) })),
    new Set(facts.contacts.map(contactKeyText)),
  );
  await writeCalls(transaction, digested);
  for (const each of digested) await removeSuppressedData(transaction, each);
  return {
    ...figures,
    /** Names of people with changed values, and of contacts with changed matches. */
    differing: [...people.differing, ...changed],
  };
}

interface DigestStep {
  readonly transaction: Transaction<Tables>;
  /** Time of the step, in microseconds since 1970. */
  readonly now: number;
  readonly calls: readonly AnsweredCall[];
  /** False if the suppression list is empty, so that no person needs to be compared with the list. */
  readonly hasSuppressions: boolean;
  readonly listedOf: (call: AnsweredCall) => SuppressedInCall;
  readonly near: Neighbourhood;
}

/** The newest call that was made for a contact and has the contact's person in its answer. */
function askingCall(
  newestFirst: readonly DigestedCall[],
  { contact, decided: { person } }: ContactWithPerson,
) {
  for (const { call, rows, arrived } of newestFirst) {
    const rowNumber = requestedRowOf(call, contact)?.rowNumber;
    const row = rows.find((each) => each.rowNumber === rowNumber && each.outcome === 'enriched');
    // An answer can also show that a contact is a person of an earlier answer. Then this call did not find the person.
    const hasPerson = arrived.some(({ written }) =>
      written.some(({ personKey }) => personKey === person?.personKey),
    );
    if (row && hasPerson) return { attemptId: call.attemptId, runId: call.runId, rowNumber: row.rowNumber };
  }
  return undefined;
}

/**
 * Appends the observations of new answers to the log, and recomputes the people in these answers. Values are computed
 * before the observations are stored, from the stored ones and the new ones in memory.
 *
 * @param people further people to recompute, from the digest queue
 * @returns `arrived`: people per call; `before`: former values; `touched`: recomputed people; `differing`: changed
 *   people
 */
async function observe(step: DigestStep, people: readonly PersonReference[]) {
  const { transaction, calls } = step;
  const named = calls.flatMap(({ service, arrived }) =>
    arrived.flatMap(({ personKey }) => (personKey === undefined ? [] : [{ service, personKey }])),
  );
  const names = [
    ...new Map([...named, ...people].map((person) => [personReferenceText(person), person])).values(),
  ];
  const stored = await readObservations(transaction, names);
  // Queued people whose observations an erasure or a pruning has removed.
  const gone = people.filter((person) => !stored.has(personReferenceText(person)));
  const keys = await readPersonKeys(transaction, gone);
  // A person without stored observations has no values yet.
  const before = await readPersonValues(transaction, [...stored.values(), ...gone]);
  const all = new Map<string, ObservedPerson>(
    names.map((person) => {
      const name = personReferenceText(person);
      return [name, stored.get(name) ?? { ...person, observations: [], matchKeys: keys.get(name) ?? [] }];
    }),
  );
  const arrived = new Map(calls.map((call) => [call, peopleWithKeys(step, call, all)]));
  const said = calls.flatMap((call) => factsPerPerson(call, arrived.get(call)!));
  const ids = await allocateObservationIds(transaction, said.length);
  const added = said.map(({ call, personKey, facts }, index): NewObservation => {
    const { service, attemptId, runId } = call;
    const observationId = ids[index]!;
    const name = personReferenceText({ service, personKey });
    const person = all.get(name) ?? { service, personKey, observations: [], matchKeys: [] };
    const observation: Observation = {
      observationId,
      askedAt: call.askedAtMicroseconds,
      recordedAt: step.now,
      runId,
      attemptId,
      organizationKey: facts.organization_key,
      facts: facts.facts,
    };
    all.set(name, {
      ...person,
      observations: [...person.observations, observation],
      matchKeys: [...person.matchKeys, ...facts.match_keys],
    });
    const of = { service, personKey, kind: 'answer' as const, runId, attemptId, deliveryId: null };
    const times = { askedAt: call.askedAt, recordedAt: microsecondsToTimestamp(step.now) };
    return { ...facts, ...of, ...times, observationId };
  });
  await writeObservations(transaction, added);
  const folded = [...all.values()].map((person) =>
    withAllKeys({
      ...person,
      isNew: !stored.has(personReferenceText(person)),
      folded: person.observations.length > 0 ? foldObservations(person.observations) : undefined,
    }),
  );
  const differing = await writePeople(transaction, folded);
  for (const person of folded)
    if (person.folded) step.near.addPerson(knownPersonOf(person, person.folded), person.matchKeys);
  const touched = new Map(folded.map((person) => [personReferenceText(person), person]));
  return { arrived, before, touched, differing };
}

/**
 * The people of an answer, each with its keys in the observation log. A person without an id gets a separate key for
 * each contact of the call that it could be.
 */
function peopleWithKeys(
  step: DigestStep,
  call: AnsweredCall,
  all: ReadonlyMap<string, ObservedPerson>,
): readonly KeyedPersonInAnswer[] {
  const { attemptId, runId, service, rows } = call;
  const listed = step.listedOf(call);
  return call.arrived.map((each): KeyedPersonInAnswer => {
    const { person, personKey, matchIndex, facts } = each;
    const isForeign =
      personKey !== undefined &&
      isOfAnother(call, each, all.get(personReferenceText({ service, personKey }))!);
    const written =
      personKey === undefined
        ? rows.flatMap(({ rowNumber, source, contactId, compared }) =>
            isPossibleFit(weighFit(compared, toComparedPerson(person)))
              ? {
                  personKey: personKeyWithoutId({ runId, rowNumber, attemptId, matchIndex }),
                  matchKeys: [contactOwnerKey(source, contactId)],
                }
              : [],
          )
        : [{ personKey, matchKeys: facts.match_keys }];
    return { ...each, isForeign, written: isForeign || listed.matches.has(matchIndex) ? [] : written };
  });
}

/**
 * Reads the contacts that need a decision, and all people and contacts that compete with them.
 *
 * @param people recomputed people of this step
 * @param dirty contacts that were queued for a new decision
 */
async function readContacts(
  { near, calls }: DigestStep,
  people: readonly FoldedPersonRow[],
  dirty: readonly ContactKey[],
): Promise<readonly ContactState[]> {
  const first = await near.readContacts([...calls.flatMap(({ rows }) => rows), ...dirty]);
  await near.readPeopleOf(first, true);
  const known = people.flatMap((person) => (person.folded ? near.person(person)! : []));
  // People without any observation left: their contacts lose them.
  const gone = people.filter(({ folded }) => folded === undefined);
  const names = new Set(dirty.map(contactKeyText));
  const contested = first.flatMap((contact) =>
    names.has(contactKeyText(contact)) ? near.weakCandidates(contact, true) : [],
  );
  // Name and employer count as evidence once a call has used them. Other contacts can have the same name and employer.
  const asked = new Set(calls.flatMap(({ rows }) => rows.flatMap(({ compared }) => compared.keys)));
  const sharing = await near.readContactsOf([...known, ...gone, ...contested], hashMatchKeys([...asked]));
  const affected = sharing.filter(
    (contact) =>
      gone.length > 0 ||
      contact.records.some(({ compared }) => compared.keys.some((key) => asked.has(key))) ||
      near.isNear(contact, [...known, ...contested]),
  );
  await near.readPeopleOf(affected);
  const contacts = [...new Set([...first, ...affected])];
  await near.readContactsOf(contacts.flatMap((contact) => near.weakCandidates(contact)));
  return contacts;
}

/**
 * Decides which person each contact is. Suppressed contacts get no person, and suppressed people are assigned to no
 * contact.
 */
async function decide(
  { transaction, near, calls, hasSuppressions, listedOf }: DigestStep,
  contacts: readonly ContactState[],
): Promise<readonly ContactWithPerson[]> {
  const decisions = contacts.map((contact) => ({ contact, decided: near.decide(contact) }));
  const fills = decisions.flatMap(({ contact, decided: { person } }) =>
    person && contact.match?.personKey !== person.personKey ? { contact, person } : [],
  );
  const forbidden = hasSuppressions ? await readForbiddenFills(transaction, fills) : new Set<ContactState>();
  const suppressed = new Set(
    calls.flatMap((call) =>
      call.rows.filter(({ rowNumber }) => listedOf(call).rows.has(rowNumber)).map(contactKeyText),
    ),
  );
  for (const { contact } of fills) if (suppressed.has(contactKeyText(contact))) forbidden.add(contact);
  return decisions.map((decision) =>
    forbidden.has(decision.contact)
      ? { ...decision, decided: { person: undefined, reason: betterMatchReason, isRefused: true } }
      : decision,
  );
}

/** The facts of an answer, each with the key to store it under: one entry per person, also if repeated. */
function factsPerPerson(call: AnsweredCall, arrived: readonly KeyedPersonInAnswer[]) {
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

/**
 * True if the id of a person in the answer belongs to someone else: an earlier answer, or this answer if the id is new,
 * has the same id with another name.
 */
function isOfAnother(
  call: AnsweredCall,
  { person, personKey, matchIndex }: AnsweredCall['arrived'][number],
  { observations }: ObservedPerson,
): boolean {
  const others: Person[] = observations.some(({ facts }) => facts['first_name'] ?? facts['name'])
    ? [personOfFolded(foldObservations(observations))]
    : call.arrived.flatMap((other) =>
        other.personKey === personKey && other.matchIndex !== matchIndex ? [other.person] : [],
      );
  return others.some((other) => areTwoPeopleWithOneId(toComparedPerson(person), toComparedPerson(other)));
}

/** Converts computed values back to a person of the service's JSON, because identities are compared in that form. */
function personOfFolded(folded: FoldedPerson): Person {
  return toPersonForIdentity({
    columns: toPersonColumns(folded),
    emails: folded.emails,
    employment: folded.employment?.value ?? [],
  });
}

function knownPersonOf({ service, personKey }: PersonReference, folded: FoldedPerson): KnownPerson {
  return toKnownPerson({
    service,
    personKey,
    person: personOfFolded(folded),
    askedAt: folded.newest.askedAt,
  });
}

/** Adds the keys that only several observations form together, such as the name of one and the employer of another. */
function withAllKeys(person: FoldedPersonRow & ObservedPerson): FoldedPersonRow {
  const { observations, matchKeys, folded } = person;
  const known = folded && observations.length > 1 ? knownPersonOf(person, folded) : undefined;
  const further = known?.compared.personId === undefined ? [] : known.matchKeys;
  return { ...person, matchKeys: [...new Set([...matchKeys, ...further])] };
}
