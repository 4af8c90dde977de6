import { sql, type Kysely } from 'kysely';
import type { KnownElsewhere } from '../../domain/identity/alignment.ts';
import {
  isStub,
  readyIdentity,
  readyPerson,
  weigh,
  type ComparedIdentity,
} from '../../domain/identity/identity-evidence.ts';
import {
  identifyingKeysOfPerson,
  matchKeysOfIdentity,
  matchKeysOfIdentityKeys,
  matchKeysOfPerson,
} from '../../domain/identity/match-keys.ts';
import type { Person } from '../../domain/identity/person.ts';
import { isPossible } from '../../domain/identity/rivals.ts';
import { verdictOn, type RowDecision } from '../../domain/identity/verdicts.ts';
import { readDoubtfulContacts } from '../../people/contacts/contacts-by-match-key.ts';
import { ByMatchKey } from '../../people/known/by-match-key.ts';
import type { ContactState } from '../../people/contacts/contact-states.ts';
import { anotherFits, findChanges } from '../../people/contacts/find-changes.ts';
import { isSameContact } from '../../people/contact-key.ts';
import { asCandidate } from '../../people/contacts/neighbourhood.ts';
import { verdictsOf } from '../../people/decisions/contact-decisions.ts';
import { readDecidedPeople, recordsOfDecided } from '../../people/decisions/decided-people.ts';
import { emailHashes } from '../../people/known/email-hashes.ts';
import { KnownRecords, withMergedRecords } from '../../people/known/merged-keys.ts';
import { readKnownPeople, type KnownPerson, type PeopleToRead } from '../../people/known/known-people.ts';
import { readKnownRows } from '../../people/known/known-rows.ts';
import { keyOfId, keyOfStranger } from '../../people/log/observation.ts';
import type { Tables } from '../../db/schema.ts';
import type { OpenPerson } from '../batches/open-people.ts';

/** A call whose answer is to be aligned. */
export interface AnsweredCall {
  readonly attemptId: string;
  readonly source: string;
  readonly service: string;
  /** In the order of `details`. */
  readonly people: readonly OpenPerson[];
  readonly arrived: readonly KnownPerson[];
  /** Decisions about the contacts of rows. */
  readonly decisions: readonly RowDecision[];
}

/** A contact that is no longer its person. */
export interface Withdrawal {
  readonly contact: ContactState;
  readonly reason: string;
}

/** The people of an answer, in the form of people who are known. */
export function arrivedPeople(matches: readonly (Person | null)[]): KnownPerson[] {
  const askedAt = new Date();
  return matches.flatMap((person): KnownPerson[] => {
    if (person === null || isStub(person)) return [];
    const compared = readyPerson(person);
    const personKey = compared.personId === undefined ? keyOfStranger(person) : keyOfId(compared.personId);
    const matchKeys = matchKeysOfPerson(person, emailHashes);
    return [{ personKey, person, compared, matchKeys, askedAt, mergedKeys: [], givenTo: new Map() }];
  });
}

/** What other answers and other rows say about an answer. */
export interface KnownAboutAnswer extends KnownElsewhere {
  /** `keysOf` of `KnownRecords`, of a person of the answer. */
  readonly keysOf: (personKey: string) => readonly string[] | null;
}

/**
 * Reads what other answers and other rows say about the rows and the people of a call. An identifier is looked up for
 * every row and person; names only for rows that only weak evidence can decide.
 */
export async function readElsewhere(
  database: Kysely<Tables>,
  { attemptId, source, service, people, arrived, decisions }: AnsweredCall,
): Promise<KnownAboutAnswer> {
  const asked = people.map(({ rowNumber, contactId, identity }) => {
    const compared = readyIdentity(identity);
    const verdicts = verdictsOf(
      decisions.filter((decision) => decision.rowNumber === rowNumber),
      compared,
    );
    return { source, contactId, compared, verdicts };
  });
  const isWeaklyFound = asked.map(({ compared, verdicts }) => {
    const fits = arrived
      .filter((person) => verdictOn(verdicts, person.compared) === undefined)
      .map((person) => weigh(compared, person.compared, emailHashes).strength);
    return fits.includes('weak') && !fits.includes('strong');
  });
  const keysOfRow = asked.map(({ compared }, index) =>
    isWeaklyFound[index] ? matchKeysOfIdentity(compared.identity) : matchKeysOfIdentityKeys(compared.keys),
  );
  const decided = await readDecidedPeople(
    database,
    service,
    asked.map(({ verdicts }) => verdicts),
  );
  const keysOfArrived = arrived.flatMap(({ person }) => identifyingKeysOfPerson(person, emailHashes));
  const sharing = await readKnownPeople(database, service, {
    matchKeys: [...new Set([...keysOfRow.flat(), ...keysOfArrived])],
  });
  const known = [...new Map([...decided, ...sharing].map((person) => [person.personKey, person])).values()];
  const byKey = new ByMatchKey(known);
  const candidatesOf = asked.map(({ verdicts }, row) => [
    ...new Set([...byKey.sharing(keysOfRow[row]!), ...recordsOfDecided(byKey, verdicts)]),
  ]);
  const ofRows = [...new Set(candidatesOf.flat())];
  const weaklyFitting = [...arrived, ...ofRows].filter((person) =>
    asked.some(
      ({ compared }, index) =>
        isWeaklyFound[index] && weigh(compared, person.compared, emailHashes).strength === 'weak',
    ),
  );
  const keys = weaklyFitting.flatMap(({ matchKeys }) => matchKeys);
  const rows = [...asked, ...(await readKnownRows(database, service, [...new Set(keys)]))];
  const lastAskedAt = ofRows.length > 0 ? await startOfRun(database, attemptId) : null;
  const keysOf = await readKeysOf(database, service, arrived, known);
  const keyOf = new Map([...known, ...arrived].map(({ compared, personKey }) => [compared, personKey]));
  return {
    areRecordsOfOne: (came, candidate) =>
      keysOf(keyOf.get(came) ?? '')?.includes(keyOf.get(candidate) ?? '') === true,
    candidatesOf: (row) =>
      candidatesOf[row]!.map((person) => asCandidate(person, { ...asked[row]!, lastAskedAt })),
    othersOf: (row, person) =>
      rows.flatMap((other): ComparedIdentity[] =>
        isSameContact(other, asked[row]!) || verdictOn(other.verdicts, person) === 'rejected'
          ? []
          : [other.compared],
      ),
    verdictsOf: (row) => asked[row]!.verdicts,
    keysOf,
  };
}

/** Reads the keys of the people of an answer, who stay apart: the service itself distinguishes them. */
async function readKeysOf(
  database: Kysely<Tables>,
  service: string,
  arrived: readonly KnownPerson[],
  known: readonly KnownPerson[],
): Promise<KnownAboutAnswer['keysOf']> {
  const byKey = new Map(known.map((person) => [person.personKey, person]));
  const present = new Map(
    arrived.map((person) => {
      const before = byKey.get(person.personKey);
      return [person.personKey, before ? withOlderFields(person, before) : person];
    }),
  );
  const people = [...present.values()];
  const all = [...new Map([...byKey, ...present]).values()];
  const read = (keys: PeopleToRead) => readKnownPeople(database, service, keys);
  const records = new KnownRecords(await withMergedRecords(read, people, all));
  return (personKey) => {
    const person = present.get(personKey);
    return person === undefined ? null : records.keysOf(person);
  };
}

/** The person as the projection will have it: an empty field keeps its value. */
function withOlderFields(person: KnownPerson, before: KnownPerson): KnownPerson {
  const stated = Object.entries(person.person).filter(([, value]) => value !== null && value !== undefined);
  const current: Person = { ...before.person, ...Object.fromEntries(stated) };
  return { ...person, person: current, compared: readyPerson(current), mergedKeys: before.mergedKeys };
}

async function startOfRun(database: Kysely<Tables>, attemptId: string): Promise<Date> {
  const { rows } = await sql<{ created_at: Date }>`
    select runs.created_at from attempts join runs using (run_id) where attempt_id = ${attemptId}
  `.execute(database);
  return rows[0]!.created_at;
}

/**
 * Finds contacts that have a person by an earlier decision, and that could be another person of this answer as well.
 * They lose the person when the answer is recorded. The end of the run decides whom they get.
 *
 * @param accepted ids of contacts that the answer itself decides about
 */
export async function findWithdrawals(
  database: Kysely<Tables>,
  { source, service, arrived }: AnsweredCall,
  accepted: ReadonlySet<string>,
): Promise<Withdrawal[]> {
  const contacts = await readDoubtfulContacts(
    database,
    service,
    {
      all: [...new Set(arrived.flatMap(({ matchKeys }) => matchKeys))],
      identifying: [
        ...new Set(arrived.flatMap(({ person }) => identifyingKeysOfPerson(person, emailHashes))),
      ],
    },
    (contact) =>
      !(contact.source === source && accepted.has(contact.contactId)) &&
      arrived.some(
        ({ personKey, compared }) =>
          personKey !== contact.personKey && isPossible(weigh(contact.compared, compared, emailHashes)),
      ),
  );
  const changes = await findChanges(database, service, contacts, { arrived });
  return changes.flatMap((change) => {
    if (change.kind === 'withdraw') return [change];
    return change.kind === 'fill' && !change.isSamePerson
      ? [{ contact: change.contact, reason: anotherFits }]
      : [];
  });
}
